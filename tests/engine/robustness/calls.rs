//! Single calls that exceed the limits of an evaluation end soon, with a result or an error.

use std::time::Duration;

use solon::{Engine, Limits, Request};

use crate::on_small_stack;
use crate::processor::timed;

/// Sufficient for any sensible call, and far too little for those below unless they are stopped.
fn bounds() -> Limits {
    Limits::UNBOUNDED
        .time(Some(Duration::from_millis(300)))
        .memory(Some(256 << 20))
}

/// Maximum processor time of a call after its deadline. Polls are far more frequent; without optimisation they are
/// slower.
const GRACE: Duration = Duration::from_secs(if cfg!(debug_assertions) { 15 } else { 3 });

const MODULE: &str = r#"package k

hide(x) := x

ten := "xxxxxxxxxx"

thousand := concat("", [ten | some i in numbers.range(1, 100)])

mega := concat("", [thousand | some i in numbers.range(1, 1000)])

nested := json.unmarshal(concat("", [concat("", ["[" | some i in numbers.range(1, 390)]), concat("", ["]" | some i in numbers.range(1, 390)])]))

list := numbers.range(1, 100000)
"#;

/// Returns the result of a call, or the message of its error.
fn outcome(call: &str) -> Result<String, String> {
    on_small_stack(call, || {
        let engine = Engine::new();
        engine.set_module("k.rego", MODULE).unwrap();
        let query = format!("x := {}", call.replace("hide(", "data.k.hide("));
        let query = engine
            .prepare_query(&query)
            .map_err(|error| error.to_string())?;
        let bounds = bounds();
        let request = Request::new().strict_builtin_errors(true).limits(&bounds);
        let (solutions, taken) = timed(|| query.solutions(&request));
        assert!(taken < GRACE, "{call} took {taken:?}");
        match solutions {
            Ok(solutions) => Ok(solutions.first().map_or("undefined".to_owned(), |one| {
                one.bindings[0].1.rego_text().to_string()
            })),
            Err(error) => Err(error.entries().remove(0).message),
        }
    })
}

#[test]
fn oversized_results_are_rejected() {
    for call in [
        "count(numbers.range(hide(1), 1000000000))",
        "count(numbers.range_step(hide(1), 100000000000, 3))",
        "count(net.cidr_expand(hide(\"10.0.0.0/4\")))",
        "bits.lsh(hide(1), 1000000000)",
        "bits.lsh(hide(1), 9223372036854775807)",
        "count(sprintf(\"%1000000d%1000000d%1000000d\", [count(sprintf(concat(\"\", [\"%1000000[1]d\" | some i in numbers.range(1, 1000)]), [hide(1)])), 2, 3]))",
        "count(replace(data.k.mega, \"x\", data.k.thousand))",
        "count(strings.replace_n({\"x\": data.k.thousand}, data.k.mega))",
        "count(regex.replace(data.k.mega, \"x\", data.k.thousand))",
        "count(concat(data.k.thousand, [\"\" | some i in data.k.list; some j in numbers.range(1, 10)]))",
        "count(json.marshal_with_options(data.k.list, {\"indent\": data.k.mega}))",
        "count(json.marshal_with_options(data.k.list, {\"prefix\": data.k.mega}))",
        "count(json.marshal([data.k.list | some i in numbers.range(1, 3000)]))",
        "count(yaml.marshal([data.k.list | some i in numbers.range(1, 3000)]))",
        "count(sprintf(concat(\"\", [\"%v\" | some i in numbers.range(1, 300)]), [data.k.list | some i in numbers.range(1, 300)]))",
        "count(sprintf(\"%v\", [[data.k.list | some i in numbers.range(1, 1000)]]))",
        "count(sprintf(concat(\"\", [\"%1000000s\" | some i in numbers.range(1, 5000)]), data.k.list))",
        "count(regex.find_n(\".*y|x\", data.k.mega, -1))",
        "count(regex.split(\"x.*y|x\", data.k.mega))",
        "count(regex.replace(data.k.mega, \".*y|x\", \"\"))",
        "count(strings.render_template(\"{{range 1000000000}}{{.}}{{end}}\", hide({})))",
        "count(strings.render_template(\"{{range .l}}{{range $.l}}x{{end}}{{end}}\", {\"l\": data.k.list}))",
    ] {
        let message = outcome(call).expect_err(call);
        println!("    {message}");
        let halted = [
            "memory limit",
            "time limit",
            "too big",
            "too large",
            "too long",
            "timed out",
        ];
        assert!(
            halted.iter().any(|words| message.contains(words)),
            "{call}: {message}"
        );
    }
}

#[test]
fn expensive_calls_end() {
    for call in [
        "count(indexof_n(data.k.mega, \"x\"))",
        "count(split(data.k.mega, \"\"))",
        "count(json.marshal(data.k.list))",
        "count(base64.encode(data.k.mega))",
        "regex.match(\"(x*)*y\", data.k.mega)",
        "regex.match(\"(x+x+)+y\", data.k.thousand)",
        "regex.match(\"((((x{1,30}){1,30}){1,30}){1,30})\", hide(\"x\"))",
        "regex.match(hide(\"(x{1000}){1000}\"), \"x\")",
        "regex.is_valid(concat(\"\", [\"(\" | some i in numbers.range(1, 100000)]))",
        "glob.match(concat(\"\", [\"*a\" | some i in numbers.range(1, 300)]), [], data.k.thousand)",
        "glob.match(concat(\"\", [\"{a,b}\" | some i in numbers.range(1, 300)]), [], data.k.thousand)",
        "glob.match(concat(\"\", [\"{*,**}\" | some i in numbers.range(1, 60)]), [], data.k.thousand)",
        "regex.globs_match(concat(\"\", [\".*a\" | some i in numbers.range(1, 30)]), concat(\"\", [\".*b\" | some i in numbers.range(1, 30)]))",
        "units.parse(\"1e400\")",
        "units.parse_bytes(\"1e999999\")",
        "units.parse(\"1e-999999\")",
        "format_int(hide(1e5), 2)",
        "to_number(\"1e99999\")",
        "hide(1e99999) * 1e99999",
        "time.format(hide(1e18))",
        "time.add_date(0, 1000000000, 0, 0)",
        "time.add_date(0, 0, 9223372036854775807, 9223372036854775807)",
        "time.parse_ns(\"2006\", \"1000000000\")",
        "json.patch(data.k.nested, [{\"op\": \"add\", \"path\": [i | some j in numbers.range(1, 380); i := 0], \"value\": data.k.nested}])",
        "json.patch({}, [{\"op\": \"copy\", \"from\": \"\", \"path\": \"/a\"} | some i in numbers.range(1, 500)])",
        "json.filter({\"a\": data.k.nested}, [concat(\"/\", [\"a\" | some i in numbers.range(1, 5000)])])",
        "json.match_schema(data.k.nested, {\"$ref\": \"#/definitions/l\", \"definitions\": {\"l\": {\"items\": {\"$ref\": \"#/definitions/l\"}}}})",
        "json.match_schema({}, hide({\"$ref\": \"#\"}))",
        "json.match_schema({}, hide({\"allOf\": [{\"$ref\": \"#\"}]}))",
        "json.match_schema({}, hide({\"$ref\": \"#/definitions/a\", \"definitions\": {\"a\": {\"oneOf\": [{\"$ref\": \"#/definitions/b\"}, {\"$ref\": \"#/definitions/b\"}]}, \"b\": {\"$ref\": \"#/definitions/a\"}}}))",
        "json.match_schema(data.k.list, hide({\"uniqueItems\": true, \"items\": {\"type\": \"string\"}}))",
        "json.match_schema(hide(\"1e90000\"), {\"multipleOf\": 1e-90000})",
        "json.verify_schema(concat(\"\", [concat(\"\", [\"{\\\"not\\\":\" | some i in numbers.range(1, 5000)]), \"{}\", concat(\"\", [\"}\" | some i in numbers.range(1, 5000)])]))",
        "strings.render_template(\"{{define `R`}}{{template `R`}}{{end}}{{template `R`}}\", hide({}))",
        "strings.render_template(concat(\"\", [\"{{if 1}}\" | some i in numbers.range(1, 10000)]), {})",
        "strings.render_template(concat(\"\", [\"{{\", concat(\"\", [\"(\" | some i in numbers.range(1, 10000)])]), {})",
        "strings.render_template(\"{{printf `%999999d` 1 | len}}\", hide({}))",
        "uri.parse(data.k.mega)",
        "semver.compare(concat(\"\", [\"1.0.0-\", data.k.mega]), \"1.0.0\")",
        "count(array.concat(data.k.list, data.k.list))",
        "count(graph.reachable({i: data.k.list | some i in numbers.range(1, 10)}, [1]))",
        "yaml.unmarshal(concat(\"\", [concat(\"\", [\"[\" | some i in numbers.range(1, 5000)]), concat(\"\", [\"]\" | some i in numbers.range(1, 5000)])]))",
        "json.unmarshal(concat(\"\", [\"[\" | some i in numbers.range(1, 100000)]))",
        "rego.parse_module(\"x\", concat(\"\", [\"package a\\np := \", concat(\"\", [\"[\" | some i in numbers.range(1, 20000)])]))",
        "count(strings.reverse(data.k.mega))",
        "count(sprintf(\"%s\", [data.k.nested]))",
        "net.cidr_merge([sprintf(\"10.%d.%d.0/24\", [i % 256, i % 7]) | some i in numbers.range(1, 5000)])",
        "product([i | some i in numbers.range(1, 20000)])",
        "time.parse_duration_ns(concat(\"\", [\"1ns\" | some i in numbers.range(1, 20000)]))",
    ] {
        // a result or an error: only its arrival is tested
        let _ = outcome(call);
    }
}
