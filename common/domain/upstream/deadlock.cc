#include "common/domain/upstream/deadlock.h"

#include <map>
#include <utility>

#include "common/domain/run/dependents.h"

namespace carillon {
namespace {

enum class Moment {
  kBegin,
  kEnd,
  kNodeEnd,  // of a run that a workflow has begun
};

struct JobMoment {
  JobNo job;
  Moment moment;

  auto operator<=>(const JobMoment&) const = default;
};
using Moments = std::vector<JobMoment>;

void AddMoments(const WaitLink& wait, Moments* found) {
  const bool within = wait.in != JobNo{};
  found->push_back({wait.job, within ? Moment::kNodeEnd : Moment::kEnd});
  if (within) found->push_back({wait.in, Moment::kBegin});
}

// With several causes, a run for one of them may come without the others.
bool HasOneCause(const JobLinks& job) {
  return !job.has_times && job.before.size() + job.workflows.size() == 1;
}

// The moments that must come before this one of the job.
Moments MomentsBefore(const JobLinks& job, Moment moment) {
  Moments found;
  for (const WaitLink& wait : job.waits) AddMoments(wait, &found);
  if (moment != Moment::kNodeEnd && HasOneCause(job)) {
    for (const JobNo before : job.before) found.push_back({before, Moment::kEnd});
    for (const JobNo workflow : job.workflows) found.push_back({workflow, Moment::kBegin});
  }
  if (moment != Moment::kBegin) {
    for (const JobNo node : job.nodes) found.push_back({node, Moment::kNodeEnd});
  }
  return found;
}

// The links of jobs, each read once.
class KnownLinks {
 public:
  KnownLinks(const JobLinks& written, const ReadLinks& read) : written_(written), read_(read) {}

  Status Read(const std::set<JobNo>& jobs) {
    std::vector<JobNo> unknown;
    for (const JobNo job_no : jobs) {
      if (known_.try_emplace(job_no, JobLinks{.job_no = job_no}).second) unknown.push_back(job_no);
    }
    if (unknown.empty()) return {};
    CARILLON_ASSIGN_OR_RETURN(std::vector<JobLinks> found, read_(unknown));
    for (JobLinks& one : found) known_[one.job_no] = std::move(one);
    for (const JobNo job_no : unknown) {
      if (written_.nodes.contains(job_no)) known_[job_no].workflows.insert(written_.job_no);
    }
    return {};
  }
  const JobLinks& Of(JobNo job_no) const { return known_.at(job_no); }

 private:
  const JobLinks& written_;
  const ReadLinks& read_;
  std::map<JobNo, JobLinks> known_;
};

// The jobs on the way from one of `first` back to one of these moments of the job, in the order in
// which they would run. Empty: there is none.
Result<std::vector<JobNo>> FindWay(const Moments& first, JobNo job, const std::set<Moment>& wanted,
                                   KnownLinks& links) {
  std::map<JobMoment, std::optional<JobMoment>> after;  // by moment: the one that waits for it
  Moments open;
  for (const JobMoment& one : first) {
    if (after.try_emplace(one, std::nullopt).second) open.push_back(one);
  }
  while (!open.empty()) {
    std::set<JobNo> jobs;
    for (const JobMoment& one : open) {
      if (one.job != job) jobs.insert(one.job);
    }
    CARILLON_TRY(links.Read(jobs));
    Moments next;
    for (const JobMoment& one : open) {
      if (one.job != job) {
        for (const JobMoment& before : MomentsBefore(links.Of(one.job), one.moment)) {
          if (after.try_emplace(before, one).second) next.push_back(before);
        }
      } else if (wanted.contains(one.moment)) {
        std::vector<JobNo> way{job};
        for (auto at = after.at(one); at; at = after.at(*at)) way.push_back(at->job);
        way.push_back(job);
        return way;
      }
    }
    open = std::move(next);
  }
  return std::vector<JobNo>{};
}

// The first schedule that waits for the ends of the job.
size_t ScheduleAfter(const JobDefinition& definition, const JobId& before) {
  size_t at = 0;
  for (const ScheduleSpec& spec : definition.schedules) {
    if (spec.kind == ScheduleKind::kAfter && spec.upstream == before.value()) return at;
    ++at;
  }
  return 0;
}

Error PlacedCycle(const JobDefinition& definition, const Deadlock& deadlock, const JobId& named,
                  const std::vector<std::string>& names) {
  switch (deadlock.link) {
    case Deadlock::Link::kBefore: return DependencyCycle(ScheduleAfter(definition, named), names);
    case Deadlock::Link::kNode: return NodeCycle(definition, named, names);
    case Deadlock::Link::kWait: break;
  }
  return AwaitCycle(deadlock.entry, false, names);
}

}  // namespace

JobLinks LinksOf(JobNo job_no, const JobDefinition& definition,
                 const std::function<JobNo(const JobId&)>& number) {
  JobLinks links{.job_no = job_no};
  for (const ScheduleSpec& spec : definition.schedules) {
    if (spec.kind != ScheduleKind::kAfter) {
      links.has_times = true;
    } else if (spec.on != AfterOutcome::kFailure) {
      links.before.insert(number(JobId(spec.upstream)));
    }
  }
  for (const JobId& node : NodeJobsOf(definition)) links.nodes.insert(number(node));
  for (const UpstreamWait& wait : definition.waits_for) {
    links.waits.push_back({number(wait.job), wait.in.empty() ? JobNo{} : number(wait.in)});
  }
  return links;
}

Result<std::optional<Deadlock>> FindDeadlock(const JobLinks& written, const ReadLinks& read) {
  using Link = Deadlock::Link;
  const JobNo self = written.job_no;
  KnownLinks links(written, read);
  CARILLON_TRY(links.Read({self}));
  JobLinks own = written;
  own.workflows = links.Of(self).workflows;
  const auto find = [&](Deadlock found, const Moments& first,
                        const std::set<Moment>& wanted) -> Result<std::optional<Deadlock>> {
    CARILLON_ASSIGN_OR_RETURN(found.jobs, FindWay(first, self, wanted, links));
    return found.jobs.empty() ? std::optional<Deadlock>() : std::optional(std::move(found));
  };
  if (HasOneCause(own) && !own.before.empty()) {
    const JobNo before = *own.before.begin();
    CARILLON_ASSIGN_OR_RETURN(
        auto found, find({.link = Link::kBefore, .named = before}, {{before, Moment::kEnd}},
                         {Moment::kBegin, Moment::kEnd}));
    if (found) return found;
  }
  for (const JobNo node : own.nodes) {
    CARILLON_ASSIGN_OR_RETURN(auto found,
                              find({.link = Link::kNode, .named = node}, {{node, Moment::kNodeEnd}},
                                   {Moment::kEnd, Moment::kNodeEnd}));
    if (found) return found;
  }
  for (size_t i = 0; i < own.waits.size(); ++i) {
    Moments first;
    AddMoments(own.waits[i], &first);
    CARILLON_ASSIGN_OR_RETURN(
        auto found, find({.link = Link::kWait, .named = own.waits[i].job, .entry = i}, first,
                         {Moment::kBegin, Moment::kEnd, Moment::kNodeEnd}));
    if (found) return found;
  }
  return std::optional<Deadlock>();
}

Error DeadlockError(const JobDefinition& definition, const Deadlock& deadlock, const JobId& named,
                    const std::vector<std::string>& names) {
  Error error = PlacedCycle(definition, deadlock, named, names);
  error.message = AwaitCycle(deadlock.entry, false, names).message;
  return error;
}

}  // namespace carillon
