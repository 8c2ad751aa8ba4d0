#include "scheduler/api/server/index_page.h"

namespace carillon::scheduler {
namespace {

constexpr std::string_view kHead = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Carillon</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem;
       color: #1b1f24; background: #fff; }
code, pre { font: 14px/1.5 ui-monospace, monospace; background: #f0f2f4; border-radius: 4px; }
code { padding: 0 .25em; }
pre { padding: .75em 1em; overflow-x: auto; }
</style>
</head>
<body>
<main>
<h1>Carillon</h1>
<p>This is the scheduler of a Carillon installation, version )html";

constexpr std::string_view kRest = R"html(. It was built without the web
console: <code>./dev build</code> in a clone of the source builds both. The REST API below
<code>/api</code>
and the <code>carillon</code> command are here as ever.</p>
<p>Every request needs the token that was made at the first start:</p>
<pre>curl -H "Authorization: Bearer $(cat DATA_DIR/admin.token)" \
     http://THIS_HOST/api/system/status</pre>
<p>All routes are described in <code>/api/reference</code>.</p>
</main>
</body>
</html>
)html";

}  // namespace

HttpResponse IndexPage(const std::string& version) {
  HttpResponse response{.status = 200};
  response.headers = {
      {"Content-Type", "text/html; charset=utf-8"},
      {"Content-Security-Policy",
       "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"},
      {"Referrer-Policy", "no-referrer"},
  };
  response.body = std::string(kHead) + version + std::string(kRest);
  return response;
}

}  // namespace carillon::scheduler
