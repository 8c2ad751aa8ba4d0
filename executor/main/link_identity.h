// The certificate of this executor on the control link: requested with a join token at the first
// start, kept in the data directory, renewed before it expires.
//
// Threads  Open before the loops run; one loop calls Step; current() is thread-safe.
// Errors   Open: kInvalid without a valid certificate and a join token; kDenied if a member refused
//          the token; kConflict if another process of this executor is alive. It waits while no
//          member is available. Renewals are retried every minute.
// Always   The key is made here and never leaves this host. Key, certificate and authority are one
//          file (0600) that is replaced as a whole.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/adapters/grpc/grpc_join.h"
#include "common/base/loops/loop.h"
#include "common/base/mutex.h"
#include "common/ports/coordinator.h"
#include "common/process/daemon.h"
#include "common/process/data_directory.h"

namespace carillon::executor {

class LinkIdentity final : public Stepper {
 public:
  struct Options {
    ExecutorId executor;
    std::string token_file;        // setting link.join_token_file; empty = none
    Duration refused_after = 12s;  // an earlier process that is still announced then is alive
  };
  // Finds the members to ask; called by Open and Step.
  using Members = std::function<Result<std::vector<MemberInfo>>()>;
  LinkIdentity(Options options, const process::DataDirectory& directory, const Clock& clock,
               Members members);

  Status Open(const process::Interrupted& interrupted);
  SteadyTime Step(SteadyTime now) override;
  tls::Identity current() const;

 private:
  // Loads the identity from the file if its certificate is valid now.
  Status Load();
  Status JoinWithToken(const process::Interrupted& interrupted);
  // Asks the members one after the other; kDenied ends the search.
  Status AskMembers(const tls::Identity& shown, const std::string& token);
  Status Keep(const tls::Identity& identity);
  WallTime RenewAt(const tls::Identity& identity) const;

  const Options options_;
  const process::DataDirectory& directory_;
  const Clock& clock_;
  const Members members_;
  mutable Mutex mu_;
  tls::Identity identity_ GUARDED_BY(mu_);
};

}  // namespace carillon::executor
