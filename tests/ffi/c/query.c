/* Queries and their solutions. */

#include "check.h"

int main(void) {
    solon_engine *engine = NULL;
    solon_query *query = NULL;
    solon_solutions *solutions = NULL;
    solon_bytes bytes = {NULL, 0};
    ok(solon_engine_new(NULL, &engine));
    ok(set_module(engine, "p.rego", "package p\nadmins contains name if data.roles[name] == \"admin\""));
    ok(set_data(engine, "{\"roles\": {\"alice\": \"admin\", \"bob\": \"user\", \"carol\": \"admin\"}}"));

    ok(solon_engine_prepare_query(engine, S("data.p.admins[x]; y := input.n"), NULL, &query));
    solon_request request = {.size = sizeof request, .input_json = "{\"n\": 5}", .input_json_length = 8};
    ok(solon_query_evaluate(query, &request, &solutions));
    CHECK(solon_solutions_count(solutions) == 2 && solon_solutions_binding_count(solutions) == 2);
    solon_text name = solon_solutions_name(solutions, 0);
    CHECK(is_text(name.data, name.length, "x"));
    CHECK(solon_solutions_name(solutions, 2).length == 0);
    CHECK(is_json(solon_solutions_binding(solutions, 0, S("x")), "\"alice\""));
    CHECK(is_json(solon_solutions_binding(solutions, 1, S("x")), "\"carol\""));
    CHECK(is_json(solon_solutions_binding(solutions, 1, S("y")), "5"));
    CHECK(solon_solutions_binding(solutions, 2, S("x")) == NULL);
    CHECK(solon_solutions_binding(solutions, 0, S("z")) == NULL);
    CHECK(is_json(solon_solutions_value(solutions, 0, 0), "\"alice\""));
    CHECK(is_json(solon_solutions_value(solutions, 0, 1), "true"));
    CHECK(solon_solutions_value(solutions, 0, 2) == NULL);
    solon_solutions_free(solutions);
    ok(solon_query_evaluate_json(query, &request, &bytes));
    CHECK(is_bytes(bytes, "[{\"bindings\":{\"x\":\"alice\",\"y\":5},\"values\":[\"alice\",true]},"
                          "{\"bindings\":{\"x\":\"carol\",\"y\":5},\"values\":[\"carol\",true]}]"));

    /* without a solution the query is undefined */
    ok(solon_query_evaluate(query, NULL, &solutions));
    CHECK(solon_solutions_count(solutions) == 0 && solon_solutions_binding_count(solutions) == 0);
    solon_solutions_free(solutions);

    /* it follows the engine, until it does not compile any more */
    ok(set_module(engine, "p.rego", "package p\nadmins := {\"dave\"}"));
    ok(solon_query_evaluate_json(query, &request, &bytes));
    CHECK(has_bytes(bytes, "dave"));
    ok(set_module(engine, "p.rego", "package p\nadmins(x) := x"));
    CHECK(code_of(solon_query_evaluate_json(query, &request, &bytes)) == SOLON_ERROR_COMPILE);
    ok(set_module(engine, "p.rego", "package p\nadmins := {\"erin\"}\nlocal := 7"));
    ok(solon_query_evaluate_json(query, &request, &bytes));
    CHECK(has_bytes(bytes, "erin"));
    solon_query_free(query);

    /* the context of a query */
    solon_metrics *metrics = NULL;
    ok(solon_metrics_new(0, &metrics));
    solon_query_options options = {.size = sizeof options, .package = "p", .package_length = 1, .metrics = metrics};
    options.imports_json = "[\"data.roles as r\"]";
    options.imports_json_length = strlen(options.imports_json);
    ok(solon_engine_prepare_query(engine, S("x := local; y := r.bob"), &options, &query));
    ok(solon_query_evaluate_json(query, NULL, &bytes));
    CHECK(has_bytes(bytes, "{\"x\":7,\"y\":\"user\"}"));
    solon_query_free(query);
    ok(solon_metrics_json(metrics, &bytes));
    CHECK(has_bytes(bytes, "\"timer_rego_query_compile_ns\":"));
    options.unsafe_builtins_json = "[\"count\"]";
    options.unsafe_builtins_json_length = 9;
    CHECK(code_of(solon_engine_prepare_query(engine, S("count([1]) > 0"), &options, &query)) == SOLON_ERROR_COMPILE);

    CHECK(code_of(solon_engine_prepare_query(engine, S("x := "), NULL, &query)) == SOLON_ERROR_COMPILE);
    CHECK(code_of(solon_engine_prepare_query(engine, S(""), NULL, &query)) == SOLON_ERROR_OPTIONS);
    CHECK(solon_solutions_count(NULL) == 0);
    solon_metrics_free(metrics);
    solon_query_free(NULL);
    solon_solutions_free(NULL);
    solon_engine_free(engine);
    return 0;
}
