/* Callbacks that use the library: they evaluate and change the engine that calls them, and free what they created. */

#include "check.h"

struct world {
    solon_engine *engine;
    solon_document *document;
    int depth;
    int printed;
};

/* Changes the engine, and evaluates the very document that is being evaluated. */
static solon_value *again(void *userdata, solon_call *call, const solon_value *const *arguments, size_t count) {
    struct world *world = userdata;
    solon_value *value = NULL;
    (void)call;
    CHECK(count == 1);
    if (world->depth == 0) {
        ok(solon_value_clone(arguments[0], &value));
        return value;
    }
    world->depth--;
    char json[32];
    int length = snprintf(json, sizeof json, "%d", world->depth);
    ok(solon_engine_put_json(world->engine, S("depth"), json, (size_t)length));
    ok(set_module(world->engine, "other.rego", world->depth % 2 == 0 ? "package other\nx := 1" : "package other\nx := 2"));
    solon_request request = {.size = sizeof request, .input = arguments[0]};
    ok(solon_document_evaluate(world->document, &request, &value));
    return value;
}

static void hear(void *userdata, const char *line, size_t length) {
    struct world *world = userdata;
    solon_bytes bytes;
    CHECK(is_text(line, length, "deep"));
    world->printed++;
    ok(evaluate(world->engine, "other/x", NULL, &bytes));
    CHECK(is_bytes(bytes, world->printed % 2 == 0 ? "2" : "1"));
    ok(set_module(world->engine, "other.rego", world->printed % 2 == 0 ? "package other\nx := 1" : "package other\nx := 2"));
    /* the document that prints, without a print callback this time */
    ok(solon_document_evaluate_json(world->document, "[1]", 3, &bytes));
    CHECK(is_bytes(bytes, "[[1],0]"));
    solon_release_memory();
}

int main(void) {
    struct world world = {NULL, NULL, 0, 0};
    solon_function *function = NULL;
    solon_bytes bytes = {NULL, 0};
    const char *declaration = "{\"type\": \"function\", \"args\": [{\"type\": \"any\"}], \"result\": {\"type\": \"any\"}}";
    ok(solon_function_new(S("again"), S(declaration), SOLON_FUNCTION_IMPURE, again, &world, NULL, &function));
    const solon_function *functions[] = {function};
    solon_options options = {.size = sizeof options, .functions = functions, .function_count = 1};
    ok(solon_engine_new(&options, &world.engine));
    solon_function_free(function);
    ok(set_module(world.engine, "p.rego", "package p\nx := [again(input), data.depth] if print(\"deep\")"));
    ok(set_data(world.engine, "{\"depth\": 0}"));
    ok(solon_engine_prepare(world.engine, S("p/x"), &world.document));

    /* each evaluation uses the snapshot that it started with */
    world.depth = 30;
    ok(set_data(world.engine, "{\"depth\": \"first\"}"));
    ok(solon_document_evaluate_json(world.document, "[7]", 3, &bytes));
    CHECK(has_text((solon_text){bytes.data, bytes.length}, "[[7],0],1],2]"));
    CHECK(has_bytes(bytes, ",29],\"first\"]"));

    /* a print callback that evaluates and changes; it is called when the evaluation ends */
    ok(set_data(world.engine, "{\"depth\": 0}"));
    ok(set_module(world.engine, "other.rego", "package other\nx := 1"));
    for (int i = 0; i < 4; i++) {
        solon_request request = {.size = sizeof request, .input_json = "[1]", .input_json_length = 3};
        request.print = hear;
        request.print_userdata = &world;
        ok(solon_document_evaluate_json_with(world.document, &request, &bytes));
        CHECK(is_bytes(bytes, "[[1],0]"));
        CHECK(world.printed == i + 1);
    }

    /* an output of an evaluation is in use while the evaluation runs */
    solon_coverage *coverage = NULL;
    solon_value *value = NULL;
    ok(solon_coverage_new(&coverage));
    solon_request request = {.size = sizeof request, .input_json = "[1]", .input_json_length = 3, .coverage = coverage};
    world.depth = 1;
    ok(solon_document_evaluate(world.document, &request, &value));
    solon_value_free(value);
    solon_coverage_free(coverage);

    /* a callback may free the handle of the engine: the document keeps what it needs */
    solon_engine_free(world.engine);
    ok(solon_document_evaluate_json(world.document, "[2]", 3, &bytes));
    CHECK(is_bytes(bytes, "[[2],0]"));
    solon_document_free(world.document);
    return 0;
}
