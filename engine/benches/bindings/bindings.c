/*
 * Times decisions through the C library for `./bench --bindings`. For each line `FORM CALLS` on standard input it prints the
 * nanoseconds per call.
 *
 *   bindings POLICY DATA|- INPUT|- PATH
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <solon.h>

struct text {
    char *data;
    size_t length;
};

static struct text read_file(const char *path) {
    struct text text = {NULL, 0};
    if (strcmp(path, "-") == 0) {
        return text;
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    text.length = (size_t)ftell(file);
    rewind(file);
    text.data = malloc(text.length + 1);
    if (text.data == NULL || fread(text.data, 1, text.length, file) != text.length) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return text;
}

static void must(solon_error *error) {
    if (error != NULL) {
        solon_text message = solon_error_message(error);
        fprintf(stderr, "%.*s\n", (int)message.length, message.data);
        exit(1);
    }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int count, char **arguments) {
    if (count != 5) {
        fprintf(stderr, "usage: bindings POLICY DATA|- INPUT|- PATH\n");
        return 2;
    }
    struct text policy = read_file(arguments[1]), data = read_file(arguments[2]), input = read_file(arguments[3]);
    const char *path = arguments[4];
    solon_engine *engine = NULL;
    solon_document *document = NULL;
    must(solon_engine_new(NULL, &engine));
    if (data.data != NULL) {
        must(solon_engine_put_json(engine, "/", 1, data.data, data.length));
    }
    must(solon_engine_set_module(engine, "policy.rego", 11, policy.data, policy.length));
    must(solon_engine_prepare(engine, path, strlen(path), &document));
    printf("ready json allow\n");
    fflush(stdout);

    char form[16];
    unsigned long calls;
    while (scanf("%15s %lu", form, &calls) == 2) {
        int allows = strcmp(form, "allow") == 0;
        double start = now();
        for (unsigned long call = 0; call < calls; call++) {
            if (allows) {
                bool allowed;
                must(solon_document_allow(document, input.data, input.length, &allowed));
            } else {
                solon_bytes answer;
                must(solon_document_evaluate_json(document, input.data, input.length, &answer));
                solon_bytes_free(answer);
            }
        }
        printf("%.3f\n", (now() - start) / (double)calls);
        fflush(stdout);
    }
    solon_document_free(document);
    solon_engine_free(engine);
    free(policy.data);
    free(data.data);
    free(input.data);
    return 0;
}
