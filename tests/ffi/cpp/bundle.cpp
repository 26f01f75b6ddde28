/* Bundles and the formatter. */

#include "check.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

/* `b/.manifest` and `b/p.rego`, signed by HS256 with the secret `secret` */
static const char SIGNATURES[] =
    "{\"signatures\":[\""
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJmaWxlcyI6W3sibmFtZSI6ImIvLm1hbmlmZXN0IiwiaGFzaCI6ImUzN2JkMmQ"
    "yYWFmOGU2NTc4YjMwNjZmZTU0Mjc0OGFlZDIzYmNiYTNjNTFhZDhmZjNiNGM4OGVlNjY0NzlkNDYiLCJhbGdvcml0aG0iOiJTSEE"
    "tMjU2In0seyJuYW1lIjoiYi9wLnJlZ28iLCJoYXNoIjoiMzMxNDkyZDBkN2UyZDI1NmNkZDVkOWFhNTgwNzc0ZmFlNGMzOWY5YWI"
    "wN2E2YWFjMzA1Y2I5OTU0ZjBjMDhhMCIsImFsZ29yaXRobSI6IlNIQS0yNTYifV19.3dI7NmybAJjjItBB7w_japu4zK2rVSrArR"
    "GCx8L6D_A"
    "\"]}";

/* an archive of `q.rego`, `q/data.json` and `.manifest` */
static const char ARCHIVE[] =
    "\037\213\010\000\000\000\000\000\002\003\355\325\275\012\302\060\020\300\361\314\175\212\160\263"
    "\244\227\132\133\010\370\044\342\020\154\054\125\154\314\207\042\210\357\156\311\042\352\154\013"
    "\366\176\313\205\054\031\302\077\311\235\360\246\265\354\227\160\120\041\246\211\337\023\161\051"
    "\137\353\264\137\313\242\144\034\331\010\056\041\152\077\034\311\346\351\254\167\107\335\032\356"
    "\262\354\306\325\232\067\072\152\341\104\223\061\062\007\271\313\323\225\037\202\355\047\353\137"
    "\342\173\377\022\261\254\251\377\061\334\241\001\305\127\017\052\141\246\375\213\223\356\273\275"
    "\011\161\312\377\277\372\374\377\253\242\240\376\307\351\337\233\153\027\072\333\203\002\015\013"
    "\360\326\306\000\152\003\016\266\364\052\020\102\310\337\172\002\023\301\067\147\000\020\000\000";

static void write(const std::string &path, const std::string &text) {
    std::ofstream(path) << text;
}

static void bundles() {
    char folder[] = "/tmp/solon-bundle-XXXXXX";
    CHECK(mkdtemp(folder) != nullptr);
    const std::string path = folder;
    write(path + "/.manifest", "{\"revision\":\"7\",\"roots\":[\"p\"]}");
    write(path + "/p.rego", "package p\n\nx := 1\n");

    solon::engine engine;
    const solon::bundle plain = engine.load_bundle("b", path);
    CHECK(plain.manifest_json() == R"({"revision":"7","roots":["p"]})");
    const solon::bundle archive = engine.read_bundle("q", std::string_view(ARCHIVE, sizeof ARCHIVE - 1));
    engine.activate_bundles({{"b", plain}, {"q", archive}});
    CHECK(engine.prepare("p/x").evaluate_json().value_or("") == "1");
    CHECK(engine.bundles().look().size() == 2);
    engine.deactivate_bundle("q");
    engine.deactivate_bundle("none");
    CHECK(engine.bundles().json() == R"([{"name":"b","revision":"7","roots":["p"]}])");
    CHECK(!engine.try_activate_bundles({{"other", plain}}));

    /* signatures */
    solon::bundle_options signed_by;
    signed_by.keys = {{"k", "HS256", "secret", ""}};
    auto unsigned_bundle = engine.try_load_bundle("b", path, signed_by);
    CHECK(!unsigned_bundle && unsigned_bundle.error().code() == SOLON_ERROR_LOAD);
    write(path + "/.signatures.json", SIGNATURES);
    CHECK(!engine.try_load_bundle("b", path));
    signed_by.key_id = "k";
    const solon::bundle verified = engine.load_bundle("b", path, signed_by);
    engine.activate_bundles({{"b", verified}});
    signed_by.keys[0].key = "another";
    CHECK(!engine.try_load_bundle("b", path, signed_by));
    solon::bundle_options skipped;
    skipped.skip_verification = true;
    CHECK(engine.try_load_bundle("b", path, skipped).has_value());
    CHECK(engine.try_read_bundle("b", "").error().code() == SOLON_ERROR_LOAD);
    for (const char *file : {"/.manifest", "/p.rego", "/.signatures.json", ""}) {
        std::remove((path + file).c_str());
    }
}

static void formatter() {
    CHECK(solon::format("package p\nx:=1") == "package p\n\nx := 1\n");
    solon::format_options options;
    options.v0_compatible = true;
    CHECK(solon::format("package p\nallow{input.x}", options) == "package p\n\nallow {\n\tinput.x\n}\n");
    options = {};
    options.name = "p.rego";
    auto broken = solon::try_format("package p\n\nx := {", options);
    CHECK(!broken && broken.error().code() == SOLON_ERROR_COMPILE);
    CHECK(broken.error().entries()[0].file == "p.rego" && broken.error().entries()[0].row == 3);
    options.capabilities = "{";
    CHECK(solon::try_format("package p", options).error().code() == SOLON_ERROR_OPTIONS);
}

int main() {
    bundles();
    formatter();
    return 0;
}
