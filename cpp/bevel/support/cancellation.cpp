#include "bevel/support/cancellation.h"

namespace bevel {

constinit thread_local cancellation::ThreadState cancellation::state{nullptr, 0};

CancellationToken* CancellationToken::current() { return cancellation::state.token; }

bool CancellationToken::is_stopped() {
  if (!cancelled() && is_stop_due_ && is_stop_due_()) cancel();
  return cancelled();
}

void CancellationToken::poll() {
  constexpr auto kInterval = std::chrono::milliseconds(50);
  throw_if_cancelled();
  if (!is_stop_due_) return;
  const auto now = Clock::now();
  if (last_call_ == Clock::time_point{}) last_call_ = now;  // short calls never check
  if (now - last_call_ < kInterval) return;
  last_call_ = now;
  if (is_stopped()) throw Cancelled{};
}

CancellationScope::CancellationScope(CancellationToken& token)
    : before_(cancellation::state.token) {
  cancellation::state = {&token, 0};
}

CancellationScope::~CancellationScope() { cancellation::state = {before_, 0}; }

void cancellation::poll_token() {
  state.work = 0;
  if (state.token) state.token->poll();
}

}  // namespace bevel
