#include "executor/warden/container/container_removal.h"

#include <poll.h>

#include <algorithm>
#include <map>

#include "executor/journal/byte_codec.h"
#include "executor/warden/container/engine_client.h"

namespace carillon::executor {
namespace {

constexpr Duration kPauseMax = 60s;
constexpr int kTriesWithoutWarden = 15;  // 10 minutes, and the time that the engine takes
constexpr uint32_t kAnswersMax = 1'000'000;

// Containers by name.
using Listed = std::map<std::string, std::string>;

class Removal {
 public:
  Removal(const std::vector<ContainerToRemove>& containers, const std::vector<size_t>& mine,
          std::vector<RemovedContainer>& answers)
      : containers_(containers),
        mine_(mine),
        answers_(answers),
        engine_(containers[mine.front()].engine),
        warden_id_(containers[mine.front()].warden_id) {}

  void Run() {
    const std::optional<Listed> before = List();
    if (!before) return;
    std::vector<std::string> to_kill;
    std::vector<std::string> to_remove;
    for (const size_t at : mine_) {
      const auto found = before->find(containers_[at].name);
      if (found == before->end()) continue;
      answers_[at].killed = !HasEnded(at, found->second);
      if (answers_[at].killed) to_kill.push_back(found->second);
      to_remove.push_back(found->second);
    }
    if (!to_remove.empty()) {
      // Only the list counts: the engine may refuse while it removes a container already.
      if (!to_kill.empty()) Ask(KillCommand(to_kill));
      Ask(RemoveCommand(to_remove));
    }
    const std::optional<Listed> after = to_remove.empty() ? before : List();
    if (!after) return;
    for (const size_t at : mine_) answers_[at].gone = !after->contains(containers_[at].name);
  }

 private:
  std::optional<Listed> List() const {
    const auto listed = ListContainers(engine_, warden_id_);
    if (!listed) return std::nullopt;
    Listed by_name;
    for (const ListedContainer& container : *listed) by_name[container.name] = container.id;
    return by_name;
  }

  // True if it is known not to run any more. Takes the engine's word for the end if nobody has
  // written it.
  bool HasEnded(size_t at, const std::string& id) {
    if (answers_[at].end) return true;
    if (!containers_[at].ask_engine) return false;
    const EngineAnswer state = AskEngine({engine_, InspectCommand(id), env_});
    Inspection inspection = state.ok ? DecideAfterInspect(state.text) : Inspection{};
    if (inspection.step != AfterInspect::kOver) return false;
    AddOutputsOf(inspection.end, containers_[at].outputs_file, containers_[at].patterns);
    answers_[at].end = std::move(inspection.end);
    return true;
  }

  void Ask(const EngineArguments& words) const {
    static_cast<void>(AskEngine({engine_, words, env_}));
  }

  const std::vector<ContainerToRemove>& containers_;
  const std::vector<size_t>& mine_;
  std::vector<RemovedContainer>& answers_;
  const std::string engine_;
  const std::string warden_id_;
  const std::vector<std::string> env_ = ClientEnvironment();
};

void PutEnd(ByteWriter& out, const std::optional<ContainerEnd>& end) {
  out.Text(end ? EncodeEnd(*end) : "");
}

}  // namespace

std::vector<RemovedContainer> RemoveContainers(const std::vector<ContainerToRemove>& containers) {
  std::vector<RemovedContainer> answers(containers.size());
  std::vector<bool> unreadable(containers.size());
  std::map<std::pair<std::string, std::string>, std::vector<size_t>> by_engine;
  for (size_t at = 0; at < containers.size(); ++at) {
    const Result<ContainerEnd> end = ReadEnd(containers[at].record_file);
    if (end.ok()) answers[at].end = *end;
    unreadable[at] = !end.ok() && end.code() == ErrorCode::kUnavailable;
    by_engine[{containers[at].engine, containers[at].warden_id}].push_back(at);
  }
  for (const auto& [engine, mine] : by_engine) {
    if (!engine.first.empty()) Removal(containers, mine, answers).Run();
  }
  // The end may be on the disk although the disk does not show it now.
  for (size_t at = 0; at < containers.size(); ++at)
    answers[at].gone = answers[at].gone && !unreadable[at];
  return answers;
}

std::string EncodeRemoved(const std::vector<RemovedContainer>& removed) {
  ByteWriter out;
  out.U32(static_cast<uint32_t>(removed.size()));
  for (const RemovedContainer& one : removed) {
    out.U8(one.gone ? 1 : 0);
    out.U8(one.killed ? 1 : 0);
    PutEnd(out, one.end);
  }
  return out.Take();
}

std::optional<std::vector<RemovedContainer>> DecodeRemoved(std::string_view bytes) {
  ByteReader in(bytes);
  std::vector<RemovedContainer> removed;
  const uint32_t count = in.U32();
  if (count > kAnswersMax) return std::nullopt;
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    RemovedContainer one{.gone = in.U8() != 0};
    one.killed = in.U8() != 0;
    one.end = ParseEnd(in.Text());
    removed.push_back(std::move(one));
  }
  if (!in.Finished()) return std::nullopt;
  return removed;
}

void RemoveWithoutWarden(const ContainerToRemove& container) {
  for (int tries = 1; tries <= kTriesWithoutWarden; ++tries) {
    if (RemoveContainers({container}).front().gone) return;
    poll(nullptr, 0, static_cast<int>(PauseAfter(tries) / 1ms));
  }
}

std::optional<std::vector<ListedContainer>> ListContainers(const std::string& engine,
                                                           const std::string& warden_id) {
  const std::vector<std::string> env = ClientEnvironment();
  const EngineAnswer answer = AskEngine({engine, ListCommand(warden_id), env});
  return answer.ok ? ParseList(answer.text) : std::nullopt;
}

void RemoveById(const std::string& engine, const std::vector<std::string>& ids) {
  const std::vector<std::string> env = ClientEnvironment();
  // The next list shows what is left.
  for (const EngineArguments& words : {KillCommand(ids), RemoveCommand(ids)}) {
    static_cast<void>(AskEngine({engine, words, env}));
  }
}

std::string EncodeListed(const std::vector<ListedContainer>& listed) {
  ByteWriter out;
  out.U32(static_cast<uint32_t>(listed.size()));
  for (const ListedContainer& one : listed) {
    out.Text(one.id);
    out.Text(one.name);
  }
  return out.Take();
}

std::optional<std::vector<ListedContainer>> DecodeListed(std::string_view bytes) {
  ByteReader in(bytes);
  std::vector<ListedContainer> listed;
  const uint32_t count = in.U32();
  if (count > kAnswersMax) return std::nullopt;
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    std::string id = in.Text();
    listed.push_back({std::move(id), in.Text()});
  }
  if (!in.Finished()) return std::nullopt;
  return listed;
}

Duration PauseAfter(int tries) {
  Duration pause = 1s;
  for (int i = 1; i < tries && pause < kPauseMax; ++i) pause *= 2;
  return std::min(pause, kPauseMax);
}

}  // namespace carillon::executor
