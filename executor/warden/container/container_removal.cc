#include "executor/warden/container/container_removal.h"

#include <poll.h>
#include <unistd.h>

#include "executor/warden/container/engine_client.h"

namespace carillon::executor {
namespace {

constexpr int kRemoveAgainMillis = 1000;

// A container is listed only after its record was written, so one that has no record now has no attempt any more.
std::vector<std::string> WithoutRecord(const std::vector<ListedContainer>& listed, const std::string& records) {
  std::vector<std::string> ids;
  for (const ListedContainer& container : listed) {
    const bool plain = !container.name.empty() && container.name.find('/') == std::string::npos;
    if (plain && access((records + "/" + container.name).c_str(), F_OK) == 0) continue;
    ids.push_back(container.id);
  }
  return ids;
}

std::vector<std::string> Named(const std::vector<ListedContainer>& listed, const std::string& name) {
  std::vector<std::string> ids;
  for (const ListedContainer& container : listed) {
    if (container.name == name) ids.push_back(container.id);
  }
  return ids;
}

std::optional<std::vector<ListedContainer>> List(const ContainerRecord& record) {
  const EngineWords list = ListCommand(record.warden_id);
  const EngineAnswer answer = AskEngine({record.engine, list, record.client_env});
  return answer.ok ? ParseList(answer.text) : std::nullopt;
}

}  // namespace

bool RemoveContainer(const ContainerRecord& record) {
  const auto before = List(record);
  if (!before) return false;
  const std::vector<std::string> ids = Named(*before, record.name);
  if (ids.empty()) return true;
  const EngineWords remove = RemoveCommand(ids);
  // Only the list counts: the engine may refuse while it removes the container already.
  static_cast<void>(AskEngine({record.engine, remove, record.client_env}));
  const auto after = List(record);
  return after && Named(*after, record.name).empty();
}

void RemoveUntilGone(const std::string& record_file) {
  auto record = ReadRecord(record_file);
  // A disk that does not answer says nothing about the container, which may still run.
  while (!record.ok() && record.code() == ErrorCode::kUnavailable) {
    poll(nullptr, 0, kRemoveAgainMillis);
    record = ReadRecord(record_file);
  }
  if (record.ok()) {
    while (!RemoveContainer(*record)) poll(nullptr, 0, kRemoveAgainMillis);
  }
  unlink(EndFileOf(record_file).c_str());
  unlink(record_file.c_str());
}

void SweepContainers(const std::string& engine, const std::string& warden_id, const std::string& records) {
  const ContainerRecord own{.engine = engine, .warden_id = warden_id, .client_env = ClientEnvironment()};
  const auto listed = List(own);
  if (!listed) return;
  const std::vector<std::string> ids = WithoutRecord(*listed, records);
  if (ids.empty()) return;
  const EngineWords remove = RemoveCommand(ids);
  static_cast<void>(AskEngine({own.engine, remove, own.client_env}));  // the next sweep sees what is left
}

}  // namespace carillon::executor
