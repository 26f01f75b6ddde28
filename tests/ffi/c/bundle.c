/* Bundles: from a folder and from bytes, verified, activated and listed. */

#define _POSIX_C_SOURCE 200809L

#include "check.h"
#include <sys/stat.h>
#include <unistd.h>

#define TEXT(literal) {(literal), sizeof(literal) - 1}

static char folder[] = "/tmp/solon-bundle-XXXXXX";
static char path[128];

static void write_file(const char *file, const char *text) {
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *out = fopen(path, "w");
    CHECK(out != NULL && fputs(text, out) >= 0 && fclose(out) == 0);
}

static solon_error *load(const solon_engine *engine, const solon_bundle_options *options, solon_bundle **out) {
    return solon_bundle_load(engine, S("b"), folder, strlen(folder), options, out);
}

static void fails(solon_error *error, solon_code code, const char *message) {
    CHECK(error != NULL && solon_error_code(error) == code && has_text(solon_error_message(error), message));
    solon_error_free(error);
}

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

int main(void) {
    solon_engine *engine = NULL;
    solon_bundle *bundle = NULL;
    solon_bundle *delta = NULL;
    solon_value *listed = NULL;
    solon_bytes bytes = {NULL, 0};
    CHECK(mkdtemp(folder) != NULL);
    write_file(".manifest", "{\"revision\":\"7\",\"roots\":[\"p\"]}");
    write_file("p.rego", "package p\n\nx := 1\n");
    ok(solon_engine_new(NULL, &engine));

    /* unsigned */
    ok(load(engine, NULL, &bundle));
    ok(solon_bundle_manifest_json(bundle, &bytes));
    CHECK(is_bytes(bytes, "{\"revision\":\"7\",\"roots\":[\"p\"]}"));
    ok(solon_engine_bundles(engine, &listed));
    CHECK(is_own_json(listed, "[]"));
    solon_text names[] = {TEXT("b"), TEXT("c")};
    const solon_bundle *bundles[] = {bundle, bundle};
    ok(solon_engine_activate_bundles(engine, names, bundles, 1));
    ok(evaluate(engine, "p/x", NULL, &bytes));
    CHECK(is_bytes(bytes, "1"));
    ok(solon_engine_bundles(engine, &listed));
    CHECK(is_own_json(listed, "[{\"name\":\"b\",\"revision\":\"7\",\"roots\":[\"p\"]}]"));
    ok(evaluate(engine, "system/bundles/b/manifest/revision", NULL, &bytes));
    CHECK(is_bytes(bytes, "\"7\""));
    fails(solon_engine_activate_bundles(engine, names, bundles, 2), SOLON_ERROR_LOAD, "overlapping roots");
    solon_bundle_free(bundle);

    /* a key needs a signature */
    solon_verification_key key = {TEXT("k"), TEXT("HS256"), TEXT("secret"), {NULL, 0}};
    solon_bundle_options options = {.size = sizeof options, .keys = &key, .key_count = 1};
    fails(load(engine, &options, &bundle), SOLON_ERROR_LOAD, "bundle b: bundle missing .signatures.json file");
    options.accept_unsigned = 1;
    ok(load(engine, &options, &bundle));
    solon_bundle_free(bundle);
    options.accept_unsigned = 0;
    write_file(".signatures.json", SIGNATURES);
    fails(load(engine, NULL, &bundle), SOLON_ERROR_LOAD, "verification key not provided");
    fails(load(engine, &options, &bundle), SOLON_ERROR_LOAD, "verification key ID is empty");
    options.key_id = "k";
    options.key_id_length = 1;
    ok(load(engine, &options, &bundle));
    solon_bundle_free(bundle);
    options.scope = "s";
    options.scope_length = 1;
    fails(load(engine, &options, &bundle), SOLON_ERROR_LOAD, "scope mismatch");
    options.scope = NULL;
    options.scope_length = 0;
    write_file("p.rego", "package p\n\nx := 2\n");
    fails(load(engine, &options, &bundle), SOLON_ERROR_LOAD, "b/p.rego: digest mismatch");
    options.exclude_json = "[\"b/*.rego\"]";
    options.exclude_json_length = strlen(options.exclude_json);
    ok(load(engine, &options, &bundle));
    solon_bundle_free(bundle);
    options.skip_verification = 1;
    fails(load(engine, &options, &bundle), SOLON_ERROR_ARGUMENT, "skip_verification");
    options.keys = NULL;
    options.key_count = 0;
    ok(load(engine, &options, &bundle));

    /* the next revision, a delta bundle, and deactivation */
    bundles[0] = bundle;
    ok(solon_engine_activate_bundles(engine, names, bundles, 1));
    ok(evaluate(engine, "p/x", NULL, &bytes));
    CHECK(is_bytes(bytes, "2"));
    CHECK(unlink(path) == 0);
    snprintf(path, sizeof path, "%s/.signatures.json", folder);
    CHECK(unlink(path) == 0);
    write_file(".manifest", "{\"revision\":\"8\",\"roots\":[\"p\"]}");
    write_file("patch.json", "{\"data\":[{\"op\":\"upsert\",\"path\":\"/p/y\",\"value\":3}]}");
    ok(load(engine, NULL, &delta));
    bundles[0] = delta;
    ok(solon_engine_activate_bundles(engine, names, bundles, 1));
    ok(evaluate(engine, "p", NULL, &bytes));
    CHECK(is_bytes(bytes, "{\"x\":2,\"y\":3}"));
    ok(solon_engine_deactivate_bundle(engine, S("b")));
    ok(solon_engine_deactivate_bundle(engine, S("b")));
    ok(evaluate(engine, "p/x", NULL, &bytes));
    CHECK(bytes.data == NULL);
    ok(solon_engine_bundles(engine, &listed));
    CHECK(is_own_json(listed, "[]"));
    ok(solon_engine_activate_bundles(engine, NULL, NULL, 0));

    /* from bytes */
    solon_bundle *none = NULL;
    solon_bundle *read = NULL;
    ok(solon_bundle_read(engine, S("q"), ARCHIVE, sizeof ARCHIVE - 1, NULL, &read));
    bundles[0] = read;
    ok(solon_engine_activate_bundles(engine, &names[1], bundles, 1));
    solon_bundle_free(read);
    ok(evaluate(engine, "q/x", NULL, &bytes));
    CHECK(is_bytes(bytes, "5"));
    fails(solon_bundle_read(engine, S("q"), ARCHIVE, sizeof ARCHIVE - 9, NULL, &none), SOLON_ERROR_LOAD, "bundle q: ");
    fails(solon_bundle_read(engine, S("a"), S("no archive"), NULL, &none), SOLON_ERROR_LOAD, "bundle a: ");
    CHECK(none == NULL);

    CHECK(unlink(path) == 0);
    snprintf(path, sizeof path, "%s/.manifest", folder);
    CHECK(unlink(path) == 0 && rmdir(folder) == 0);
    solon_bundle_free(bundle);
    solon_bundle_free(delta);
    solon_bundle_free(NULL);
    solon_engine_free(engine);
    return 0;
}
