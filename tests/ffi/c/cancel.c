/* Cancelled evaluations. */

#define _POSIX_C_SOURCE 200809L

#include "check.h"
#include <pthread.h>

/* locked until the evaluation runs */
static pthread_mutex_t runs = PTHREAD_MUTEX_INITIALIZER;

static solon_value *begin(void *userdata, solon_call *call, const solon_value *const *arguments, size_t count) {
    solon_value *value = NULL;
    (void)userdata;
    (void)call;
    (void)arguments;
    static int has_begun = 0;
    CHECK(count == 0);
    if (!has_begun) {
        has_begun = 1;
        CHECK(pthread_mutex_unlock(&runs) == 0);
    }
    ok(solon_value_int(1, &value));
    return value;
}

static void *stop(void *cancel) {
    CHECK(pthread_mutex_lock(&runs) == 0);
    CHECK(pthread_mutex_unlock(&runs) == 0);
    solon_cancel_cancel(cancel);
    return NULL;
}

int main(void) {
    solon_engine *engine = NULL;
    solon_document *document = NULL;
    solon_cancel *cancel = NULL;
    solon_value *value = NULL;
    pthread_t thread;
    solon_function *function = NULL;
    const char *declaration = "{\"type\": \"function\", \"args\": [], \"result\": {\"type\": \"number\"}}";
    ok(solon_function_new(S("begin"), S(declaration), SOLON_FUNCTION_IMPURE, begin, NULL, NULL, &function));
    const solon_function *functions[] = {function};
    solon_options options = {.size = sizeof options, .functions = functions, .function_count = 1};
    ok(solon_engine_new(&options, &engine));
    solon_function_free(function);
    ok(set_module(engine, "p.rego", "package p\nx if { begin(); some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i + j < 0 }"));
    ok(solon_engine_prepare(engine, S("p/x"), &document));
    ok(solon_cancel_new(&cancel));
    CHECK(solon_cancel_is_cancelled(cancel) == 0);

    CHECK(pthread_mutex_lock(&runs) == 0);
    CHECK(pthread_create(&thread, NULL, stop, cancel) == 0);
    solon_request request = {.size = sizeof request, .cancel = cancel};
    solon_error *error = solon_document_evaluate(document, &request, &value);
    CHECK(solon_error_code(error) == SOLON_ERROR_CANCELLED);
    CHECK(has_text(solon_error_message(error), "eval_cancel_error: caller cancelled query execution"));
    solon_error_free(error);
    CHECK(pthread_join(thread, NULL) == 0);

    /* it stays cancelled, for evaluations of few steps, too */
    ok(set_module(engine, "q.rego", "package q\nallow if input.user == \"alice\""));
    solon_document *allow = NULL;
    ok(solon_engine_prepare(engine, S("data.q.allow"), &allow));
    solon_request decided = {.size = sizeof decided, .input_json = "{\"user\": \"alice\"}", .input_json_length = SIZE_MAX};
    bool allowed = false;
    ok(solon_document_allow_with(allow, &decided, &allowed));
    CHECK(allowed);
    decided.cancel = cancel;
    CHECK(code_of(solon_document_allow_with(allow, &decided, &allowed)) == SOLON_ERROR_CANCELLED && !allowed);
    decided.cancel = NULL;
    decided.time_limit_ns = 1;
    allowed = true;
    CHECK(code_of(solon_document_allow_with(allow, &decided, &allowed)) == SOLON_ERROR_TIMEOUT && !allowed);
    solon_document_free(allow);
    CHECK(solon_cancel_is_cancelled(cancel) == 1);
    CHECK(code_of(solon_document_evaluate(document, &request, &value)) == SOLON_ERROR_CANCELLED);
    solon_cancel_free(cancel);
    solon_cancel_free(NULL);
    solon_cancel_cancel(NULL);
    CHECK(solon_cancel_is_cancelled(NULL) == 0);
    solon_document_free(document);
    solon_engine_free(engine);
    return 0;
}
