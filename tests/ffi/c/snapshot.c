/* Snapshots: several decisions on the same state, despite changes. */

#include "check.h"

static void expect(const solon_document *document, const solon_snapshot *snapshot, const char *json) {
    solon_request request = {.size = sizeof request, .snapshot = snapshot};
    solon_value *value = NULL;
    ok(solon_document_evaluate(document, &request, &value));
    CHECK(is_own_json(value, json));
}

int main(void) {
    solon_engine *engine = NULL;
    solon_document *document = NULL;
    solon_snapshot *before = NULL, *after = NULL;
    solon_change *change = NULL;
    const solon_value *value = NULL;
    ok(solon_engine_new(NULL, &engine));
    ok(set_module(engine, "p.rego", "package p\nx := data.n + 1"));
    ok(set_data(engine, "{\"n\": 1}"));
    ok(solon_engine_prepare(engine, S("p/x"), &document));
    ok(solon_engine_snapshot(engine, &before));
    CHECK(solon_snapshot_generation(before) == 2);

    /* checks a change without applying it */
    ok(solon_change_new(&change));
    ok(solon_change_set_module(change, S("p.rego"), S("package p\nx := data.n * 100"), SOLON_REGO_DEFAULT));
    ok(solon_change_patch_json(change, S("[{\"op\": \"replace\", \"path\": \"/n\", \"value\": 2}]")));
    ok(solon_engine_check(engine, change, &after));
    expect(document, after, "200");
    expect(document, before, "2");
    expect(document, NULL, "2");
    solon_snapshot_free(after);

    /* the change can still be applied */
    ok(solon_engine_apply(engine, change, NULL));
    expect(document, NULL, "200");
    expect(document, before, "2");
    ok(solon_snapshot_get(before, S("n"), &value));
    CHECK(is_json(value, "1"));
    CHECK(code_of(solon_snapshot_get(before, S("m"), &value)) == SOLON_ERROR_STORE);

    ok(solon_change_set_module(change, S("p.rego"), S("package p\nx := y"), SOLON_REGO_DEFAULT));
    CHECK(code_of(solon_engine_check(engine, change, &after)) == SOLON_ERROR_COMPILE);
    solon_change_free(change);

    /* a snapshot outlives its engine */
    solon_engine_free(engine);
    expect(document, before, "2");
    solon_document_free(document);
    solon_snapshot_free(before);
    solon_snapshot_free(NULL);
    CHECK(solon_snapshot_generation(NULL) == 0);
    return 0;
}
