/* A million evaluations, or as many as the argument says, on short-lived threads, 64 at a time. The memory of the process
 * does not grow after the first thousand. */

#define _POSIX_C_SOURCE 200809L

#include "../c/check.h"
#include <pthread.h>
#include <unistd.h>

enum { THREADS = 64, EACH = 200, ALLOWED_KB = 20 << 10 };

static void *ask(void *document) {
    char input[64];
    for (int i = 0; i < EACH; i++) {
        solon_bytes bytes = {NULL, 0};
        int length = snprintf(input, sizeof input, "{\"user\": \"user%d\", \"n\": %d}", i, i % 50);
        ok(solon_document_evaluate_json(document, input, (size_t)length, &bytes));
        CHECK(bytes.data != NULL);
        solon_bytes_free(bytes);
    }
    return NULL;
}

/* Evaluates on new threads, at most 64 at a time. */
static void wave(solon_document *document, int threads) {
    pthread_t all[THREADS];
    for (int i = 0; i < threads; i++) {
        CHECK(pthread_create(&all[i], NULL, ask, document) == 0);
    }
    for (int i = 0; i < threads; i++) {
        CHECK(pthread_join(all[i], NULL) == 0);
    }
}

static long resident_kb(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    long all = 0, resident = 0;
    CHECK(file != NULL && fscanf(file, "%ld %ld", &all, &resident) == 2);
    fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) >> 10);
}

int main(int count, char **arguments) {
    long wanted = count > 1 ? atol(arguments[1]) : 1000000;
    solon_engine *engine = NULL;
    solon_document *document = NULL;
    ok(solon_engine_new(NULL, &engine));
    ok(set_module(engine, "p.rego", "package p\nx := {\"names\": [sprintf(\"%s-%d\", [input.user, i]) | some i in numbers.range(0, input.n)]}"));
    ok(solon_engine_prepare(engine, S("p/x"), &document));

    wave(document, 5);
    long before = resident_kb(), asked = 5 * EACH;
    while (asked < wanted) {
        wave(document, THREADS);
        asked += THREADS * EACH;
    }
    long after = resident_kb();
    printf("%ld evaluations: %ld KB resident at first, %ld KB at the end\n", asked, before, after);
    CHECK(after - before <= ALLOWED_KB);
    solon_document_free(document);
    solon_engine_free(engine);
    return 0;
}
