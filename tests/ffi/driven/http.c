/* Example of an embedder in C: a server that evaluates a policy for each request. It listens on a free port, which it
 * prints, and responds on four threads until it receives DELETE.
 *
 *     POST /any/path   with a JSON body: 200 with the decision if the policy allows it, otherwise 403
 *     PUT /policy      with a module: replaces the policy, or responds 400 with the error
 *     DELETE /         stops the server
 */

#define _POSIX_C_SOURCE 200809L

#include "../c/check.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum { THREADS = 4, HEAD = 8 << 10, BODY = 1 << 20 };

struct server {
    int listener;
    solon_engine *engine;
    solon_document *decision;
    volatile int ends;
};

/* A request, read completely. */
struct message {
    char method[8];
    char path[256];
    char *body;
    size_t length;
};

static const char *POLICY = "package http.authz\n"
                            "default decision := {\"allow\": false, \"reason\": \"default\"}\n"
                            "decision := {\"allow\": true} if {\n"
                            "    input.request.method == \"POST\"\n"
                            "    startswith(input.request.path, \"/open/\")\n"
                            "} else := {\"allow\": true} if {\n"
                            "    some role in input.request.body.roles\n"
                            "    role in data.roles\n"
                            "}\n";

/* Reads a request; returns 0 if it is invalid. */
static int receive(int connection, char *buffer, struct message *message) {
    size_t got = 0, head = 0;
    char *end = NULL;
    while (end == NULL) {
        ssize_t more = read(connection, buffer + got, HEAD - 1 - got);
        if (more <= 0) {
            return 0;
        }
        got += (size_t)more;
        buffer[got] = '\0';
        end = strstr(buffer, "\r\n\r\n");
        if (end == NULL && got == HEAD - 1) {
            return 0;
        }
    }
    head = (size_t)(end - buffer) + 4;
    if (sscanf(buffer, "%7s %255s", message->method, message->path) != 2) {
        return 0;
    }
    const char *length = strstr(buffer, "Content-Length: ");
    message->length = length == NULL ? 0 : strtoul(length + 16, NULL, 10);
    if (message->length > BODY) {
        return 0;
    }
    message->body = malloc(message->length + 1);
    CHECK(message->body != NULL);
    size_t have = got - head;
    have = have > message->length ? message->length : have;
    memcpy(message->body, buffer + head, have);
    while (have < message->length) {
        ssize_t more = read(connection, message->body + have, message->length - have);
        if (more <= 0) {
            free(message->body);
            return 0;
        }
        have += (size_t)more;
    }
    return 1;
}

static void answer(int connection, const char *status, solon_text body) {
    char head[256];
    int length = snprintf(head, sizeof head,
                          "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                          "Connection: close\r\n\r\n",
                          status, body.length);
    if (write(connection, head, (size_t)length) < 0 || write(connection, body.data, body.length) < 0) {
        /* the client has disconnected */
        return;
    }
}

/* Creates the input of the policy: the parts of the request, and the body as parsed. */
static solon_error *input_of(const struct message *message, solon_value **input) {
    solon_value *body = NULL, *method = NULL, *path = NULL, *request = NULL;
    solon_value *names[4] = {NULL, NULL, NULL, NULL};
    const char *texts[] = {"method", "path", "body", "request"};
    solon_error *error = solon_value_from_json(message->body, message->length, &body);
    if (error == NULL) {
        error = solon_value_string(S(message->method), &method);
    }
    if (error == NULL) {
        error = solon_value_string(S(message->path), &path);
    }
    for (int at = 0; at < 4 && error == NULL; at++) {
        error = solon_value_string(S(texts[at]), &names[at]);
    }
    if (error == NULL) {
        const solon_value *values[] = {method, path, body};
        error = solon_value_object((const solon_value *const *)names, values, 3, &request);
    }
    if (error == NULL) {
        const solon_value *values[] = {request};
        error = solon_value_object((const solon_value *const *)names + 3, values, 1, input);
    }
    for (int at = 0; at < 4; at++) {
        solon_value_free(names[at]);
    }
    solon_value_free(request);
    solon_value_free(body);
    solon_value_free(method);
    solon_value_free(path);
    return error;
}

/* Evaluates the policy, for five seconds at most. Any result other than a clear permission denies. */
static void decide(struct server *server, int connection, const struct message *message) {
    solon_value *input = NULL, *decision = NULL;
    solon_bytes json = {NULL, 0};
    solon_error *error = input_of(message, &input);
    if (error != NULL) {
        answer(connection, "400 Bad Request", solon_error_json(error));
        solon_error_free(error);
        return;
    }
    solon_request request = {.size = sizeof request, .input = input, .time_limit_ns = 5000000000};
    error = solon_document_evaluate(server->decision, &request, &decision);
    if (error == NULL && decision != NULL) {
        error = solon_value_json(decision, &json);
    }
    int allowed = error == NULL && solon_value_is_true(solon_value_get(decision, S("allow")));
    if (error != NULL) {
        answer(connection, "500 Internal Server Error", solon_error_json(error));
    } else {
        solon_text told = {json.data == NULL ? "{}" : json.data, json.data == NULL ? 2 : json.length};
        answer(connection, allowed ? "200 OK" : "403 Forbidden", told);
    }
    solon_error_free(error);
    solon_bytes_free(json);
    solon_value_free(decision);
    solon_value_free(input);
}

static void take_policy(struct server *server, int connection, const struct message *message) {
    solon_error *error = solon_engine_set_module(server->engine, S("http.rego"), message->body, message->length);
    solon_text told = {"{}", 2};
    answer(connection, error == NULL ? "200 OK" : "400 Bad Request", error == NULL ? told : solon_error_json(error));
    solon_error_free(error);
}

static void *serve(void *userdata) {
    struct server *server = userdata;
    char *buffer = malloc(HEAD);
    CHECK(buffer != NULL);
    while (!server->ends) {
        struct message message = {"", "", NULL, 0};
        int connection = accept(server->listener, NULL, NULL);
        if (connection < 0) {
            continue;
        }
        if (!receive(connection, buffer, &message)) {
            answer(connection, "400 Bad Request", (solon_text){"{}", 2});
        } else if (strcmp(message.method, "POST") == 0) {
            decide(server, connection, &message);
        } else if (strcmp(message.method, "PUT") == 0) {
            take_policy(server, connection, &message);
        } else if (strcmp(message.method, "DELETE") == 0) {
            answer(connection, "200 OK", (solon_text){"{}", 2});
            server->ends = 1;
            /* wakes the waiting threads */
            shutdown(server->listener, SHUT_RDWR);
        } else {
            answer(connection, "405 Method Not Allowed", (solon_text){"{}", 2});
        }
        free(message.body);
        close(connection);
    }
    free(buffer);
    return NULL;
}

int main(void) {
    struct server server = {socket(AF_INET, SOCK_STREAM, 0), NULL, NULL, 0};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = 0};
    socklen_t length = sizeof address;
    pthread_t threads[THREADS];
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(server.listener >= 0);
    CHECK(bind(server.listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(server.listener, 64) == 0);
    CHECK(getsockname(server.listener, (struct sockaddr *)&address, &length) == 0);

    ok(solon_engine_new(NULL, &server.engine));
    ok(set_module(server.engine, "http.rego", POLICY));
    ok(set_data(server.engine, "{\"roles\": [\"admin\"]}"));
    ok(solon_engine_prepare(server.engine, S("http/authz/decision"), &server.decision));
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);

    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, serve, &server) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    close(server.listener);
    solon_document_free(server.decision);
    solon_engine_free(server.engine);
    return 0;
}
