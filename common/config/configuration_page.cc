#include "common/config/config_table.h"

namespace carillon::config {
namespace {

constexpr std::string_view kHead = R"(# Configuration

<!-- Generated from common/config/config_table.cc; the test unit_config compares them. After a
     change of the table: ./dev regen -->

A value is taken from the first of these that names it:

1. flags: `--data-dir`, `--port`, and `--set NAME=VALUE` for any setting
2. the environment: `rest.port` is `CARILLON_REST_PORT`
3. the YAML file of `--config`, nested or with dots
4. the default

```yaml
retention_days: 30
rest:
  port: 9000
executor:
  slots: 16
  labels: {zone: a, disk: ssd}
```

An unknown name or an invalid value stops the start; the error names the file and the line. An
unknown `CARILLON_*` variable is only logged.

Settings take effect at the next start; those marked **live** can also be
[changed while the whole cluster runs](cluster.md#settings-of-the-whole-cluster).

| setting | default (bounds) | what it does |
|---|---|---|
)";

constexpr std::string_view kTail = R"(
[cli.md](cli.md) has the variables of the command line (`CARILLON_ADDR`, `CARILLON_TOKEN`, …).
)";

// In parentheses behind the default; empty if the type says it.
std::string Bounds(const Setting& setting) {
  switch (setting.type) {
    case SettingType::kText:
    case SettingType::kFlag:
    case SettingType::kPairs: return "";
    case SettingType::kLevels: return "(`late_s:below, …`)";
    case SettingType::kInteger:
      return " (" + std::to_string(setting.least) + "–" + std::to_string(setting.most) + ")";
    case SettingType::kChoice: {
      std::string bounds = " (`";
      for (char c : setting.choices) bounds += c == '|' ? std::string("`, `") : std::string(1, c);
      return bounds + "`)";
    }
    case SettingType::kAddress: return " (an IP address or `localhost`)";
    case SettingType::kIdentity: return " (`[a-z0-9][a-z0-9-]{0,62}`)";
    case SettingType::kNetworks: return "(`address,network/bits,…`)";
  }
  return "";
}

}  // namespace

std::string ConfigurationPage() {
  std::string page(kHead);
  for (const Setting& setting : SettingTable()) {
    const std::string fallback =
        setting.fallback.empty() ? "" : "`" + std::string(setting.fallback) + "`";
    page += "| `" + std::string(setting.name) + "` | " + fallback + Bounds(setting) + " | " +
            std::string(setting.help) + (setting.live ? " **Live.**" : "") + " |\n";
  }
  page += kTail;
  return page;
}

}  // namespace carillon::config
