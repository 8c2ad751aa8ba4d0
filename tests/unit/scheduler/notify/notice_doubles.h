// A test double for the notifier: a receiver.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/ports/notice_transport.h"

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

}  // namespace carillon::scheduler
