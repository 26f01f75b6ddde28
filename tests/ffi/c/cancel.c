/* Evaluations that others stop. */

#define _POSIX_C_SOURCE 199309L

#include "check.h"
#include <pthread.h>
#include <time.h>

static void *stop(void *cancel) {
    struct timespec pause = {0, 50000000};
    nanosleep(&pause, NULL);
    solon_cancel_cancel(cancel);
    return NULL;
}

int main(void) {
    solon_engine *engine = NULL;
    solon_document *document = NULL;
    solon_cancel *cancel = NULL;
    solon_value *value = NULL;
    pthread_t thread;
    ok(solon_engine_new(NULL, &engine));
    ok(set_module(engine, "p.rego", "package p\nx if { some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i + j < 0 }"));
    ok(solon_engine_prepare(engine, S("p/x"), &document));
    ok(solon_cancel_new(&cancel));
    CHECK(solon_cancel_is_cancelled(cancel) == 0);

    CHECK(pthread_create(&thread, NULL, stop, cancel) == 0);
    solon_request request = {.size = sizeof request, .cancel = cancel};
    solon_error *error = solon_document_ask(document, &request, &value);
    CHECK(solon_error_code(error) == SOLON_ERROR_EVAL);
    CHECK(has_text(solon_error_message(error), "eval_cancel_error: caller cancelled query execution"));
    solon_error_free(error);
    CHECK(pthread_join(thread, NULL) == 0);

    /* it stays cancelled */
    CHECK(solon_cancel_is_cancelled(cancel) == 1);
    CHECK(code_of(solon_document_ask(document, &request, &value)) == SOLON_ERROR_EVAL);
    solon_cancel_free(cancel);
    solon_cancel_free(NULL);
    solon_cancel_cancel(NULL);
    CHECK(solon_cancel_is_cancelled(NULL) == 0);
    solon_document_free(document);
    solon_engine_free(engine);
    return 0;
}
