/* Coverage, profiles and metrics. */

#include "check.h"

int main(void) {
    solon_engine *engine = NULL;
    solon_document *document = NULL;
    solon_query *query = NULL;
    solon_snapshot *snapshot = NULL;
    solon_coverage *coverage = NULL;
    solon_profile *profile = NULL;
    solon_metrics *metrics = NULL;
    solon_solutions *solutions = NULL;
    solon_bytes bytes = {NULL, 0};
    bool allowed = true;
    ok(solon_engine_new(NULL, &engine));
    ok(set_module(engine, "p.rego", "package p\nallow if {\n\tinput.user == \"alice\"\n\tinput.n > 1\n}\nallow if input.user == \"root\"\n"));
    ok(solon_engine_snapshot(engine, &snapshot));
    ok(solon_coverage_new(&coverage));
    ok(solon_profile_new(&profile));
    ok(solon_metrics_new(1, &metrics));

    solon_request request = {.size = sizeof request, .coverage = coverage, .profile = profile, .metrics = metrics};
    request.input_json = "{\"user\": \"alice\", \"n\": 0}";
    request.input_json_length = strlen(request.input_json);
    ok(solon_engine_prepare(engine, S("p/allow"), &document));
    ok(solon_document_allow_with(document, &request, &allowed));
    CHECK(!allowed);
    ok(solon_coverage_json(coverage, snapshot, &bytes));
    CHECK(has_bytes(bytes, "\"covered\":[{\"start\":{\"row\":3,\"col\":2},\"end\":{\"row\":3,\"col\":23}}"));
    /* coverage accumulates over requests and over documents */
    request.input_json = "{\"user\": \"root\"}";
    request.input_json_length = strlen(request.input_json);
    ok(solon_engine_prepare_query(engine, S("data.p.allow"), NULL, &query));
    ok(solon_query_evaluate(query, &request, &solutions));
    CHECK(solon_solutions_count(solutions) == 1);
    solon_solutions_free(solutions);
    ok(solon_coverage_json(coverage, snapshot, &bytes));
    CHECK(has_bytes(bytes, "\"covered_lines\":3,\"not_covered_lines\":1"));

    ok(solon_profile_json(profile, snapshot, &bytes));
    CHECK(has_bytes(bytes, "\"num_eval\":1,\"num_redo\":"));
    ok(solon_profile_json(profile, snapshot, &bytes));
    CHECK(is_bytes(bytes, "[]"));
    ok(solon_document_evaluate_json_with(document, &request, &bytes));
    CHECK(is_bytes(bytes, "true"));
    ok(solon_profile_json(profile, snapshot, &bytes));
    CHECK(has_bytes(bytes, "\"location\":{\"file\":\"p.rego\",\"row\":6,\"col\":10}"));
    ok(solon_metrics_json(metrics, &bytes));
    CHECK(has_text((solon_text){bytes.data, bytes.length}, "\"timer_rego_query_eval_ns\":"));
    CHECK(has_bytes(bytes, "\"histogram_eval_op_plug\":"));

    /* changes are measured, too */
    solon_change *change = NULL;
    ok(solon_change_new(&change));
    ok(solon_change_set_module(change, S("q.rego"), S("package q\nx := 1"), SOLON_REGO_DEFAULT));
    ok(solon_engine_apply(engine, change, metrics));
    ok(solon_metrics_json(metrics, &bytes));
    CHECK(has_text((solon_text){bytes.data, bytes.length}, "\"timer_rego_module_parse_ns\":"));
    CHECK(has_bytes(bytes, "\"timer_rego_module_compile_ns\":"));
    solon_change_free(change);

    solon_metrics_free(metrics);
    solon_metrics_free(NULL);
    solon_profile_free(profile);
    solon_profile_free(NULL);
    solon_coverage_free(coverage);
    solon_coverage_free(NULL);
    solon_snapshot_free(snapshot);
    solon_query_free(query);
    solon_document_free(document);
    solon_engine_free(engine);
    return 0;
}
