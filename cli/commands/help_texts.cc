#include "cli/commands/help_texts.h"

#include <array>

namespace carillon::cli {
namespace {

struct CommandGroup {
  const char* title;
  std::string_view commands;  // separated by spaces
};

constexpr std::array kCommandGroups = {
    CommandGroup{"Jobs", "job workflow schedule group calendar namespace"},
    CommandGroup{"Runs", "run output progress checkpoint event bulk backfill dead-letter"},
    CommandGroup{"Files", "apply diff validate export import"},
    CommandGroup{"Operations", "executor handler system delivery notify audit backup"},
    CommandGroup{"Access", "login logout whoami user role token secret"},
    CommandGroup{"Local", "standalone check-config context api version completion help"},
};

struct Examples {
  std::string_view command;
  std::array<const char*, 2> lines;
};

constexpr std::array kExamples = {
    Examples{"", {"carillon standalone --data-dir ~/carillon", "carillon help job create"}},
    Examples{"job",
             {"carillon job create --name Backup --command 'backup.sh' --cron '30 2 * * *'",
              "carillon job run backup --wait"}},
    Examples{"job list",
             {"carillon job list --status PAUSED", "carillon job list --selector 'team = etl'"}},
    Examples{"job create",
             {"carillon job create --name Backup --command 'backup.sh' --cron '30 2 * * *' "
              "--tz Europe/Paris",
              "carillon job create -f backup.yaml"}},
    Examples{"job edit",
             {"carillon job edit backup --timeout 2h --retry 3",
              "carillon job edit backup  # opens $EDITOR"}},
    Examples{"job run",
             {"carillon job run backup --wait",
              "carillon job run backup --param day=2026-03-01 --priority 80"}},
    Examples{"job why",
             {"carillon job why backup 8h", "carillon job why backup 2026-03-01T02:30:00Z"}},
    Examples{"job queue",
             {"carillon job queue backup", "carillon job queue backup --limit 1000 -o json"}},
    Examples{"job deps", {"carillon job deps report", "carillon job deps report -o json"}},
    Examples{"job delete",
             {"carillon job delete backup", "carillon job delete load --force --yes"}},
    Examples{"job backfill",
             {"carillon job backfill report --from 7d --to 1h --dry-run",
              "carillon job backfill report --from 2026-03-01T00:00:00Z --to 2026-03-08T00:00:00Z "
              "--rerun failed --concurrency 4 --wait"}},
    Examples{"schedule",
             {"carillon schedule next '0 9 * * MON-FRI' --tz Europe/Paris",
              "carillon schedule lint '*/7 * * * *'"}},
    Examples{"workflow",
             {"carillon workflow graph nightly-sales",
              "carillon workflow validate -f nightly-sales.yaml"}},
    Examples{"group", {"carillon group set db --limit 3", "carillon job edit backup --group db"}},
    Examples{"calendar",
             {"carillon calendar set workdays -f workdays.yaml",
              "carillon calendar preview workdays --days 30"}},
    Examples{"namespace", {"carillon namespace list", "carillon job list --namespace payroll"}},
    Examples{"run",
             {"carillon run list --state FAILED --since 24h", "carillon run logs RUN_ID -f"}},
    Examples{"run list",
             {"carillon run list --state FAILED --since 24h",
              "carillon run list --job backup --limit 5"}},
    Examples{"run logs",
             {"carillon run logs RUN_ID -f", "carillon run logs RUN_ID --tail 100 --timestamps"}},
    Examples{"run outputs",
             {"carillon run outputs RUN_ID", "carillon run outputs RUN_ID --json | jq -r .rows"}},
    Examples{"run nodes", {"carillon run nodes RUN_ID", "carillon run nodes RUN_ID -o wide"}},
    Examples{"run skip",
             {"carillon run skip RUN_ID --node audit",
              "carillon run skip RUN_ID --node audit --reason 'audited by hand'"}},
    Examples{"run approve",
             {"carillon run list --waiting approval", "carillon run approve RUN_ID"}},
    Examples{"run refuse",
             {"carillon run nodes RUN_ID",
              "carillon run refuse RUN_ID --node gate --reason 'wrong rows'"}},
    Examples{"run retry",
             {"carillon run retry RUN_ID",
              "carillon run retry RUN_ID --from load,audit --skip report --dry-run"}},
    Examples{"output",
             {"carillon output rows \"$(wc -l < rows.csv)\"", "carillon output change -- -5"}},
    Examples{"progress", {"carillon progress 42", "carillon progress 42 'row 4200 of 10000'"}},
    Examples{"checkpoint save",
             {"carillon checkpoint save state.json", "echo \"$row\" | carillon checkpoint save -"}},
    Examples{
        "checkpoint load",
        {"carillon checkpoint load > state.json", "row=$(carillon checkpoint load || echo 0)"}},
    Examples{"checkpoint",
             {"carillon checkpoint save state.json", "carillon checkpoint load > state.json"}},
    Examples{"event",
             {"carillon event send --type order.paid --source shop --data '{\"amount\": 9.5}'",
              "carillon event list --type 'order.*' --since 1h"}},
    Examples{"event send",
             {"carillon event send --type order.paid --source shop --id 42 --data @order.json",
              "echo '{\"amount\": 9.5}' | carillon event send --type order.paid --source shop "
              "--data -"}},
    Examples{"event test",
             {"carillon event test --type order.paid --source shop --data '{\"amount\": 9.5}'",
              "carillon event test --type order.paid --source shop --job bill -o wide"}},
    Examples{"run cancel",
             {"carillon run cancel RUN_ID --reason 'wrong parameters'",
              "carillon run cancel RUN_ID --kill"}},
    Examples{"backfill", {"carillon backfill list --state RUNNING", "carillon backfill cancel 7"}},
    Examples{"bulk",
             {"carillon bulk pause --filter selector=team=etl --reason 'maintenance'",
              "carillon bulk retry --filter state=FAILED --filter since=2026-03-01T00:00:00Z "
              "--dry-run"}},
    Examples{"dead-letter",
             {"carillon dead-letter list --job backup", "carillon dead-letter replay 17"}},
    Examples{"apply",
             {"carillon apply -f jobs/", "carillon apply -f jobs/ --prune --selector team=etl"}},
    Examples{"diff", {"carillon diff -f jobs/", "carillon diff -f backup.yaml -o json"}},
    Examples{"validate", {"carillon validate -f jobs/", "carillon validate -f - < backup.yaml"}},
    Examples{"export",
             {"carillon export --namespace payroll -d jobs", "carillon export --job backup"}},
    Examples{"import",
             {"crontab -l | carillon import crontab --dry-run",
              "carillon import xxl-job xxl_job.sql --tz Asia/Shanghai --apply"}},
    Examples{
        "executor",
        {"carillon executor list --state ONLINE", "carillon executor drain executor-1 --wait"}},
    Examples{"handler", {"carillon handler list", "carillon handler list -o json"}},
    Examples{"system",
             {"carillon system status", "carillon system pause --reason 'database upgrade'"}},
    Examples{"delivery",
             {"carillon delivery list --state GIVEN_UP", "carillon delivery resend 17"}},
    Examples{"notify", {"carillon notify test", "carillon notify test -o json"}},
    Examples{"audit", {"carillon audit backup", "carillon audit --actor anna --since 24h"}},
    Examples{"backup",
             {"carillon backup create store.sql --data-dir ~/carillon",
              "carillon backup restore store.sql --data-dir ~/restored"}},
    Examples{"login",
             {"carillon login --addr https://carillon.example.com", "carillon login --name anna"}},
    Examples{"user",
             {"carillon user create anna --role user",
              "carillon user edit anna --share payroll:team=etl"}},
    Examples{"role", {"carillon role list", "carillon role list -o json"}},
    Examples{"token",
             {"carillon token create ci --scope jobs:run --expires 90d", "carillon token list"}},
    Examples{"secret",
             {"carillon secret set db_password --value-file password.txt", "carillon secret list"}},
    Examples{"standalone",
             {"carillon standalone --data-dir ~/carillon",
              "carillon standalone --port 8640 --executors 0.0.0.0:8641"}},
    Examples{"check-config",
             {"carillon check-config --config carillon.yaml",
              "carillon check-config --set log.level=debug"}},
    Examples{"context",
             {"carillon context set prod --addr https://carillon.example.com",
              "carillon context use prod"}},
    Examples{"api",
             {"carillon api GET /api/jobs", "carillon api POST /api/jobs/backup/execute -d '{}'"}},
    Examples{"completion",
             {"source <(carillon completion bash)", "carillon completion fish | source"}},
};

const char* GroupOf(const std::string& command) {
  for (const CommandGroup& group : kCommandGroups) {
    for (std::string_view left = group.commands; !left.empty();) {
      const size_t end = std::min(left.find(' '), left.size());
      if (left.substr(0, end) == command) return group.title;
      left.remove_prefix(std::min(end + 1, left.size()));
    }
  }
  return "Subcommands";
}

}  // namespace

void GroupCommands(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands({})) command->group(GroupOf(command->get_name()));
}

std::string ExamplesOf(std::string_view path) {
  for (const Examples& examples : kExamples) {
    if (examples.command != path) continue;
    std::string text = "Examples:\n";
    for (const char* line : examples.lines) text += std::string("  ") + line + "\n";
    return text;
  }
  return {};
}

}  // namespace carillon::cli
