/* Threads evaluate while another one changes the engine: each decision is of one snapshot. */

#include "check.h"
#include <pthread.h>

enum { THREADS = 4, DECISIONS = 2000, CHANGES = 200 };

static void *ask(void *engine) {
    for (int i = 0; i < DECISIONS; i++) {
        solon_bytes bytes;
        ok(evaluate(engine, "p/same", "{}", &bytes));
        CHECK(is_text(bytes.data, bytes.length, "true"));
        solon_bytes_free(bytes);
    }
    return NULL;
}

int main(void) {
    solon_engine *engine = NULL;
    ok(solon_engine_new(NULL, &engine));
    ok(set_module(engine, "p.rego", "package p\nsame if data.left == data.right"));
    ok(set_data(engine, "{\"left\": 0, \"right\": 0}"));

    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, ask, engine) == 0);
    }
    for (int i = 0; i < CHANGES; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"left\": %d, \"right\": %d}", i, i);
        ok(set_data(engine, json));
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    solon_engine_free(engine);
    return 0;
}
