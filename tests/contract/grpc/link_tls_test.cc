// The control link over TLS: accepted and refused certificates, and how executors get theirs.
#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <thread>

#include "common/adapters/grpc/grpc_join.h"
#include "common/adapters/grpc/join_calls.h"
#include "common/adapters/grpc/link_credentials.h"
#include "common/adapters/grpc/link_protocol.h"
#include "common/base/metrics/metrics.h"
#include "tests/contract/grpc/link_authority.h"
#include "tests/contract/grpc/link_fixture.h"

namespace carillon::test {
namespace {

class GrpcTlsTest : public GrpcLinkTest {
 protected:
  GrpcTlsTest() {
    rpc::HubOptions options = HubOf("m1");
    options.join_secret.clear();
    options.identity = TheAuthority().Member("m1");
    options.metrics = &metrics_;
    hub_ = Hub(options);
  }
  std::unique_ptr<rpc::GrpcLink> LinkWith(const tls::Identity& identity,
                                          const std::string& member = "m1") {
    auto link = rpc::GrpcLink::Make(
        {.executor = ExecutorId("e1"), .incarnation = Incarnation("x"), .join_secret = "secret"},
        clock_, [identity] { return identity; });
    link->SetMembers({Info(member, hub_->endpoint())});
    return link;
  }
  // Waits until a link that is accepted has connected and ended: `link` then had enough time too.
  void ExpectRefused(rpc::GrpcLink& link) {
    const tls::Identity good = TheAuthority().Executor("e2");
    auto other =
        rpc::GrpcLink::Make({.executor = ExecutorId("e2"), .incarnation = Incarnation("x")}, clock_,
                            [good] { return good; });
    other->SetMembers({Info("m1", hub_->endpoint())});
    EXPECT_TRUE(Up(*other));
    EXPECT_TRUE(link.Members().empty());
    EXPECT_TRUE(link.public_keys().empty());
    EXPECT_TRUE(hub_->Receive(1).empty());
  }
  uint64_t Refused() {
    return metrics_.counter("carillon_link_refused_total", "certificate").value();
  }

  Metrics metrics_;
  std::unique_ptr<rpc::GrpcHub> hub_;
};

TEST_F(GrpcTlsTest, ItsOwnCertificateIsWelcome) {
  const auto link = LinkWith(TheAuthority().Executor("e1"));
  EXPECT_TRUE(Up(*link));
  EXPECT_EQ(Refused(), 0u);
}

TEST_F(GrpcTlsTest, TheCertificateOfAnotherExecutorIsRefusedAndCounted) {
  const auto link = LinkWith(TheAuthority().Executor("e3"));
  EXPECT_TRUE(WaitUntil([&] { return Refused() > 0; }));
  ExpectRefused(*link);
}

TEST_F(GrpcTlsTest, NoCertificateIsRefusedAndCounted) {
  tls::Identity none = TheAuthority().Executor("e1");
  none.certificate.clear();
  none.key.clear();
  const auto link = LinkWith(none);
  EXPECT_TRUE(WaitUntil([&] { return Refused() > 0; }));
  ExpectRefused(*link);
}

TEST_F(GrpcTlsTest, ACertificateOfAnotherAuthorityIsRefused) {
  const LinkAuthority others;
  tls::Identity mixed = others.Executor("e1");
  mixed.authority = TheAuthority().Executor("e1").authority;  // the link trusts the member
  const auto link = LinkWith(mixed);
  ExpectRefused(*link);
}

TEST_F(GrpcTlsTest, AnExpiredCertificateIsRefused) {
  const auto link = LinkWith(TheAuthority().Executor("e1", -1min));
  ExpectRefused(*link);
}

TEST_F(GrpcTlsTest, TheCertificateOfAMemberIsNotOneOfAnExecutor) {
  const auto link = LinkWith(TheAuthority().Member("e1"));
  ExpectRefused(*link);
}

TEST_F(GrpcTlsTest, InTheClearNothingGetsThrough) {
  const auto link = LinkWith({});
  ExpectRefused(*link);
}

TEST_F(GrpcTlsTest, AnExecutorTrustsNoMemberOfAnotherAuthorityOrName) {
  const LinkAuthority others;
  tls::Identity mixed = TheAuthority().Executor("e1");
  mixed.authority = others.Executor("e1").authority;
  const auto link = LinkWith(mixed);
  ExpectRefused(*link);
  const auto named = LinkWith(TheAuthority().Executor("e1"), "m2");
  ExpectRefused(*named);
}

// The holder of an executor's certificate cannot pose as a member.
TEST_F(GrpcTlsTest, TheCertificateOfAnExecutorIsNotOneOfAMember) {
  rpc::HubOptions options = HubOf("m3");
  options.identity = TheAuthority().Executor("m3");
  const auto false_member = Hub(options);
  for (const char* listed : {"m3", ""}) {
    const tls::Identity identity = TheAuthority().Executor("e1");
    const auto link =
        rpc::GrpcLink::Make({.executor = ExecutorId("e1"), .incarnation = Incarnation("x")}, clock_,
                            [identity] { return identity; });
    link->SetMembers({Info(listed, false_member->endpoint())});
    ExpectRefused(*link);
  }
}

TEST_F(GrpcTlsTest, ANewStreamTakesTheNewCertificate) {
  std::atomic<bool> renewed = false;
  auto link = rpc::GrpcLink::Make(
      {.executor = ExecutorId("e1"), .incarnation = Incarnation("x")}, clock_, [&renewed] {
        return renewed ? TheAuthority().Executor("e1") : TheAuthority().Executor("e3");
      });
  link->SetMembers({Info("m1", hub_->endpoint())});
  EXPECT_TRUE(WaitUntil([&] { return Refused() > 0; }));
  renewed = true;
  EXPECT_TRUE(Up(*link));
}

class GrpcJoinTest : public ::testing::Test {
 protected:
  GrpcJoinTest() { Start(10s); }
  // Restarts the hub. `patience`: how long it waits for the request of a call.
  void Start(Duration patience) {
    hub_.reset();
    auto hub =
        rpc::GrpcHub::Start({.member = MemberId("m1"),
                             .public_key = std::string(32, 'k'),
                             .identity = TheAuthority().Member("m1"),
                             .join = [this](const JoinRequest& request) { return Issue(request); },
                             .join_patience = patience,
                             .metrics = &metrics_},
                            clock_);
    EXPECT_TRUE(hub.ok()) << hub.error().message;
    hub_ = std::move(hub).value();
  }
  Result<std::string> Issue(const JoinRequest& request) {
    const std::lock_guard lock(mu_);
    seen_.push_back(request);
    return answer_;
  }
  Result<std::string> Ask(const tls::Identity& identity, const JoinRequest& request,
                          const std::string& member = "m1") {
    return rpc::Join({.member = MemberId(member), .address = hub_->endpoint()}, identity, request);
  }
  static tls::Identity OnlyAuthority() {
    return {.authority = TheAuthority().Executor("e1").authority};
  }
  static JoinRequest With(const std::string& token) {
    return {.executor = ExecutorId("e1"), .token = token, .request = "the request"};
  }
  std::vector<JoinRequest> seen() {
    const std::lock_guard lock(mu_);
    return seen_;
  }

  SystemClock clock_;
  Metrics metrics_;
  std::mutex mu_;
  std::vector<JoinRequest> seen_;
  Result<std::string> answer_ = std::string("the certificate");
  std::unique_ptr<rpc::GrpcHub> hub_;
};

TEST_F(GrpcJoinTest, ATokenAndARequestBecomeACertificate) {
  const auto issued = Ask(OnlyAuthority(), With("a token"));
  ASSERT_TRUE(issued.ok()) << issued.error().message;
  EXPECT_EQ(*issued, "the certificate");
  ASSERT_EQ(seen().size(), 1u);
  EXPECT_EQ(seen()[0].executor, ExecutorId("e1"));
  EXPECT_EQ(seen()[0].token, "a token");
  EXPECT_EQ(seen()[0].request, "the request");
}

TEST_F(GrpcJoinTest, RefusalsAndWantsAreToldApart) {
  answer_ = Error{ErrorCode::kDenied, "used"};
  EXPECT_EQ(Ask(OnlyAuthority(), With("a token")).code(), ErrorCode::kDenied);
  answer_ = Error{ErrorCode::kUnavailable, "away"};
  EXPECT_EQ(Ask(OnlyAuthority(), With("a token")).code(), ErrorCode::kUnavailable);
}

TEST_F(GrpcJoinTest, ACertificateOfItsOwnRenewsWithoutAToken) {
  EXPECT_TRUE(Ask(TheAuthority().Executor("e1"), With("")).ok());
  ASSERT_EQ(seen().size(), 1u);
  EXPECT_EQ(seen()[0].token, "");
}

TEST_F(GrpcJoinTest, WithoutTokenOrCertificateOfItsOwnNobodyIsAsked) {
  EXPECT_EQ(Ask(OnlyAuthority(), With("")).code(), ErrorCode::kDenied);
  EXPECT_EQ(Ask(TheAuthority().Executor("e2"), With("")).code(), ErrorCode::kDenied);
  EXPECT_TRUE(seen().empty());
  EXPECT_EQ(metrics_.counter("carillon_link_refused_total", "certificate").value(), 2u);
}

// The token is sent only to a peer whose certificate the authority has signed.
TEST_F(GrpcJoinTest, TheTokenIsShownToMembersOnly) {
  const LinkAuthority others;
  EXPECT_EQ(Ask({.authority = others.Executor("e1").authority}, With("a token")).code(),
            ErrorCode::kUnavailable);
  EXPECT_EQ(Ask(OnlyAuthority(), With("a token"), "m2").code(), ErrorCode::kUnavailable);
  EXPECT_TRUE(seen().empty());
}

TEST_F(GrpcJoinTest, ARequestThatIsTooLongIsRefused) {
  JoinRequest request = With("a token");
  request.request = std::string(100'000, 'x');
  EXPECT_EQ(Ask(OnlyAuthority(), request).code(), ErrorCode::kDenied);
  EXPECT_TRUE(seen().empty());
}

TEST_F(GrpcJoinTest, ManyAtOnceAreEachAnswered) {
  std::vector<std::thread> askers;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 8; ++i) {
    askers.emplace_back([&] {
      if (Ask(OnlyAuthority(), With("a token")).ok()) ++answered;
    });
  }
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(answered, 8);
}

// A call for a certificate that never sends its request.
class SilentCall final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit SilentCall(grpc::GenericStub& stub) {
    context_.AddMetadata(rpc::kExecutorMetadata, "e1");
    context_.AddMetadata(rpc::kSecretMetadata, "Bearer made up");
    stub.PrepareBidiStreamingCall(&context_, rpc::kJoinMethod, grpc::StubOptions(), this);
    StartCall();
  }
  ~SilentCall() override {
    context_.TryCancel();
    done_.wait();
  }
  void OnDone(const grpc::Status& status) override { ended_.set_value(status.error_code()); }
  bool Ended(Duration within = 0s) { return done_.wait_for(within) == std::future_status::ready; }
  grpc::StatusCode code() const { return done_.get(); }

 private:
  grpc::ClientContext context_;
  std::promise<grpc::StatusCode> ended_;
  const std::shared_future<grpc::StatusCode> done_ = ended_.get_future().share();
};

class SilentJoinTest : public GrpcJoinTest {
 protected:
  std::unique_ptr<grpc::GenericStub> Stub() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto credentials = rpc::ChannelCredentials(OnlyAuthority(), "m1", arguments);
    return std::make_unique<grpc::GenericStub>(
        grpc::CreateCustomChannel(hub_->endpoint(), credentials, arguments));
  }
  uint64_t GivenUp() { return metrics_.counter("carillon_link_refused_total", "slow").value(); }
};

TEST_F(SilentJoinTest, ACallWithoutARequestIsGivenUp) {
  Start(50ms);
  const auto stub = Stub();
  SilentCall call(*stub);
  ASSERT_TRUE(call.Ended(20s));
  EXPECT_EQ(call.code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(GivenUp(), 1u);
  EXPECT_TRUE(Ask(OnlyAuthority(), With("a token")).ok());
}

TEST_F(SilentJoinTest, ThoseThatSayNothingKeepNobodyOut) {
  Start(1h);
  const auto stub = Stub();
  std::vector<std::unique_ptr<SilentCall>> calls;
  for (size_t i = 0; i <= rpc::kJoinsUnreadMax; ++i) {
    calls.push_back(std::make_unique<SilentCall>(*stub));
  }
  // One is given up once all have arrived. A request that came between them could be the
  // oldest itself.
  EXPECT_TRUE(WaitUntil([&] { return GivenUp() > 0; }));
  EXPECT_TRUE(Ask(OnlyAuthority(), With("a token")).ok());
  const auto ended =
      std::count_if(calls.begin(), calls.end(), [](const auto& call) { return call->Ended(); });
  EXPECT_LE(ended, 2);
  EXPECT_EQ(seen().size(), 1u);
}

TEST(GrpcHubTest, TlsLiftsTheRuleOfLoopbackAndNeedsAPair) {
  rpc::HubOptions options{.member = MemberId("m1"),
                          .public_key = std::string(32, 'k'),
                          .identity = TheAuthority().Member("m1"),
                          .address = "0.0.0.0"};
  const SystemClock clock;
  EXPECT_TRUE(rpc::GrpcHub::Start(options, clock).ok());
  options.identity.key = tls::NewKey();
  EXPECT_EQ(rpc::GrpcHub::Start(options, clock).code(), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace carillon::test
