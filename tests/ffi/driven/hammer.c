/* Eight threads evaluate one prepared document while a ninth replaces policy and data together, for as many seconds as the
 * argument says. Each result is of one snapshot. Callbacks are called meanwhile. */

#define _POSIX_C_SOURCE 200809L

#include "../c/check.h"
#include <pthread.h>
#include <time.h>

enum { THREADS = 8 };

struct world {
    solon_engine *engine;
    const solon_document *document;
    double until;
};

struct asker {
    const struct world *world;
    long asked;
    long printed;
    long called;
    int64_t last;
};

static double now(void) {
    struct timespec time;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &time) == 0);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static solon_value *same(void *userdata, solon_call *call, const solon_value *const *arguments, size_t count) {
    solon_value *value = NULL;
    int64_t address = 0;
    (void)userdata;
    CHECK(count == 1);
    /* the caller of this very request */
    CHECK(solon_value_to_int(solon_call_metadata(call), &address) == 1);
    ((struct asker *)(intptr_t)address)->called++;
    ok(solon_value_clone(arguments[0], &value));
    return value;
}

static void hear(void *userdata, const char *line, size_t length) {
    struct asker *asker = userdata;
    CHECK(is_text(line, length, "asked"));
    asker->printed++;
}

static void *ask(void *userdata) {
    struct asker *asker = userdata;
    solon_value *self = NULL;
    ok(solon_value_int((int64_t)(intptr_t)asker, &self));
    do {
        for (int i = 0; i < 20; i++) {
            solon_request request = {.size = sizeof request, .input_json = "{}", .input_json_length = 2};
            solon_value *answer = NULL;
            request.metadata = self;
            request.print = hear;
            request.print_userdata = asker;
            ok(solon_document_evaluate(asker->world->document, &request, &answer));
            /* the numbers of policy and data are equal, and never decrease */
            int64_t of_policy = -1, of_data = -2;
            CHECK(solon_value_to_int(solon_value_item(answer, 0), &of_policy) == 1);
            CHECK(solon_value_to_int(solon_value_item(answer, 1), &of_data) == 1);
            CHECK(of_policy == of_data && of_policy >= asker->last);
            asker->last = of_policy;
            asker->asked++;
            solon_value_free(answer);
        }
    } while (now() < asker->world->until);
    solon_value_free(self);
    return NULL;
}

static void replace(solon_engine *engine, solon_change *change, long number) {
    char text[256];
    snprintf(text, sizeof text, "package p\nx := [%ld, same(data.number)] if { print(\"asked\"); input }", number);
    ok(solon_change_set_module(change, S("p.rego"), S(text), SOLON_REGO_DEFAULT));
    snprintf(text, sizeof text, "%ld", number);
    ok(solon_change_put_json(change, S("number"), S(text)));
    ok(solon_engine_apply(engine, change, NULL));
}

int main(int count, char **arguments) {
    solon_function *function = NULL;
    solon_engine *engine = NULL;
    solon_document *document = NULL;
    solon_change *change = NULL;
    const char *declaration = "{\"type\": \"function\", \"args\": [{\"type\": \"any\"}], \"result\": {\"type\": \"any\"}}";
    ok(solon_function_new(S("same"), S(declaration), SOLON_FUNCTION_IMPURE, same, NULL, NULL, &function));
    const solon_function *functions[] = {function};
    solon_options options = {.size = sizeof options, .functions = functions, .function_count = 1};
    ok(solon_engine_new(&options, &engine));
    solon_function_free(function);
    ok(solon_change_new(&change));
    replace(engine, change, 0);
    ok(solon_engine_prepare(engine, S("p/x"), &document));

    struct world world = {engine, document, now() + (count > 1 ? atof(arguments[1]) : 2)};
    struct asker askers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        askers[i] = (struct asker){&world, 0, 0, 0, 0};
        CHECK(pthread_create(&threads[i], NULL, ask, &askers[i]) == 0);
    }
    long number = 0;
    do {
        replace(engine, change, ++number);
    } while (now() < world.until);
    long asked = 0;
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(askers[i].asked > 0 && askers[i].printed == askers[i].asked && askers[i].called == askers[i].asked);
        asked += askers[i].asked;
    }
    printf("%ld answers, %ld changes\n", asked, number);
    CHECK(number > 0);
    solon_change_free(change);
    solon_document_free(document);
    solon_engine_free(engine);
    return 0;
}
