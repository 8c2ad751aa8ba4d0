// Test doubles for the notifier: receivers, and a store that fails.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/ports/notice_transport.h"
#include "common/ports/store/notice_store.h"

namespace carillon::scheduler {

// A receiver that answers as configured, and keeps the messages.
class FakeTransport final : public NoticeTransport {
 public:
  Result<int> Post(const NoticePost& post) override {
    posts.push_back(post);
    if (const auto happens = during_post) happens();
    return webhook_answer;
  }
  Result<int> Mail(const NoticeMail& mail) override {
    mails.push_back(mail);
    return mail_answer;
  }
  std::function<void()> during_post;
  std::vector<NoticePost> posts;
  std::vector<NoticeMail> mails;
  Result<int> webhook_answer = 200;
  Result<int> mail_answer = 250;
};

// A store that fails a given number of times to record the outcomes of deliveries.
class ForgetfulStore final : public NoticeStore {
 public:
  explicit ForgetfulStore(NoticeStore& store) : store_(store) {}
  Result<std::vector<OpenNotice>> ScanNotices(const std::vector<SegmentId>& segments,
                                              size_t limit) override {
    return store_.ScanNotices(segments, limit);
  }
  Result<std::optional<RunDetail>> FindRun(const Notice& notice) override {
    return store_.FindRun(notice);
  }
  Status DecideNotices(const std::vector<NoticeDecision>& decisions, const Fence& fence,
                       WallTime now) override {
    return store_.DecideNotices(decisions, fence, now);
  }
  Status AddNotices(const std::vector<Notice>& notices, const Fence& fence) override {
    return store_.AddNotices(notices, fence);
  }
  Result<RecoveryPage> ScanRecoveries(const std::vector<SegmentId>& segments,
                                      std::optional<JobNo> after, WallTime now,
                                      size_t limit) override {
    return store_.ScanRecoveries(segments, after, now, limit);
  }
  Result<std::vector<Delivery>> ScanDeliveries(const std::vector<SegmentId>& segments,
                                               const std::vector<DeliveryChannel>& channels,
                                               WallTime now, size_t limit) override {
    return store_.ScanDeliveries(segments, channels, now, limit);
  }
  Status RecordDelivery(const DeliveryOutcome& outcome, const Fence& fence, WallTime now) override {
    if (failures > 0 && failures-- > 0) return {failure, "test"};
    return store_.RecordDelivery(outcome, fence, now);
  }
  Result<DeliveryBacklog> ReadBacklog(const std::vector<SegmentId>& segments) override {
    return store_.ReadBacklog(segments);
  }
  Result<std::vector<Delivery>> ListDeliveries(const DeliveryFilter& filter) override {
    return store_.ListDeliveries(filter);
  }
  Result<BoundedCount> CountDeliveries(const DeliveryFilter& filter) override {
    return store_.CountDeliveries(filter);
  }
  Result<Delivery> ResendDelivery(uint64_t id, WallTime now) override {
    return store_.ResendDelivery(id, now);
  }
  int failures = 0;
  ErrorCode failure = ErrorCode::kUnavailable;

 private:
  NoticeStore& store_;
};

}  // namespace carillon::scheduler
