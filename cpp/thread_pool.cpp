#include "thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mercer {

namespace {

inline void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

struct Job {
  const std::function<void(Index, int)>* body = nullptr;
  Index tasks = 0;
  std::atomic<Index> next{0};
  std::atomic<int> finished{0};  ///< workers that have left the job
  std::exception_ptr error;
  std::mutex error_lock;

  void work(int worker) {
    for (;;) {
      const Index t = next.fetch_add(1, std::memory_order_relaxed);
      if (t >= tasks) return;
      try {
        (*body)(t, worker);
      } catch (...) {
        std::lock_guard guard(error_lock);
        if (!error) error = std::current_exception();
        next.store(tasks, std::memory_order_relaxed);
      }
    }
  }
};

thread_local bool inside_pool = false;

/// A thread of the pool. It sleeps through jobs that are not for it.
class Worker {
 public:
  /// `number` is what bodies know the thread by. Throws std::system_error where the system starts
  /// no more threads.
  explicit Worker(int number) {
    std::thread([this, number] { loop(number); }).detach();  // lives until the process ends
  }

  void offer(Job* job) {
    job_.store(job, std::memory_order_release);
    offers_.fetch_add(1, std::memory_order_release);
    offers_.notify_one();
  }

  /// Takes the offer back; returns false where the worker has begun the job.
  bool withdraw() { return job_.exchange(nullptr, std::memory_order_acq_rel) != nullptr; }

 private:
  void loop(int number) {
    inside_pool = true;
    for (;;) {
      const int seen = offers_.load(std::memory_order_acquire);
      // About a hundred microseconds of spinning bridge the serial parts of a solver.
      for (int spin = 0; spin < 20000 && !job_.load(std::memory_order_relaxed); ++spin) relax();
      if (Job* job = job_.exchange(nullptr, std::memory_order_acq_rel)) {
        job->work(number);
        job->finished.fetch_add(1, std::memory_order_release);
      } else {
        offers_.wait(seen, std::memory_order_acquire);
      }
    }
  }

  std::atomic<int> offers_{0};
  std::atomic<Job*> job_{nullptr};
};

class Pool {
 public:
  void run(int threads, Index tasks, const std::function<void(Index, int)>& body,
           const std::function<void()>& idle) {
    std::unique_lock one_at_a_time(run_lock_);
    const std::size_t helpers = grow(threads - 1);
    Job job;
    job.body = &body;
    job.tasks = tasks;
    for (std::size_t w = 0; w < helpers; ++w) workers_[w]->offer(&job);
    inside_pool = true;
    job.work(0);
    inside_pool = false;
    // Nobody may join any more; then wait for those inside.
    int inside = 0;
    for (std::size_t w = 0; w < helpers; ++w) inside += workers_[w]->withdraw() ? 0 : 1;
    for (unsigned spins = 0; job.finished.load(std::memory_order_acquire) < inside;) {
      if (spins < 4000) {  // about twenty microseconds
        ++spins;
        relax();
        continue;
      }
      std::this_thread::yield();  // a worker may be waiting for this processor
      if (idle) idle();
    }
    if (job.error) std::rethrow_exception(job.error);
  }

 private:
  /// Starts workers until there are so many; returns how many of them there are. Fewer, where the
  /// process has reached a limit: it is asked again a second later.
  std::size_t grow(int workers) {
    const auto wanted = static_cast<std::size_t>(workers);
    if (workers_.size() < wanted && std::chrono::steady_clock::now() >= retry_) try {
        workers_.reserve(wanted);  // a worker that runs must find its place
        while (workers_.size() < wanted)
          workers_.push_back(std::make_unique<Worker>(static_cast<int>(workers_.size()) + 1));
      } catch (const std::system_error&) {
        retry_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
      }
    return std::min(wanted, workers_.size());
  }

  std::mutex run_lock_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::chrono::steady_clock::time_point retry_;  ///< no threads are started before
};

std::atomic<Pool*> the_pool{nullptr};
std::mutex pool_lock;

#ifdef __linux__
/// The child of a fork has no workers: the old pool is abandoned (its threads do not exist here).
void after_fork_in_child() {
  the_pool.store(nullptr);
  new (&pool_lock) std::mutex();
  inside_pool = false;
}
#endif

Pool& pool() {
  Pool* p = the_pool.load(std::memory_order_acquire);
  if (p) return *p;
  std::lock_guard guard(pool_lock);
  p = the_pool.load();
  if (!p) {
#ifdef __linux__
    static const int registered = pthread_atfork(nullptr, nullptr, after_fork_in_child);
    (void)registered;
#endif
    p = new Pool();  // lives until the process ends; joining at exit could deadlock
    the_pool.store(p, std::memory_order_release);
  }
  return *p;
}

int cgroup_quota() {
  std::ifstream v2("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (v2 >> quota >> period && quota != "max" && period > 0)
    return std::max(1, static_cast<int>(std::stod(quota) / period + 0.5));
  std::ifstream q1("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
      p1("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double q = 0, p = 0;
  if (q1 >> q && p1 >> p && q > 0 && p > 0) return std::max(1, static_cast<int>(q / p + 0.5));
  return 1 << 20;
}

int initial_threads() {
  const int cpus = usable_cpus();
  if (const char* env = std::getenv("OMP_NUM_THREADS")) {
    const int n = std::atoi(env);
    if (n > 0) return std::min(n, cpus);
  }
  return cpus;
}

std::atomic<int>& limit() {
  static std::atomic<int> n{initial_threads()};
  return n;
}

}  // namespace

int usable_cpus() {
  static const int all = static_cast<int>(std::thread::hardware_concurrency());
  int n = all;
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) n = CPU_COUNT(&set);
#endif
  static const int quota = cgroup_quota();
  return std::max(1, std::min(n, quota));
}

int num_threads() {
  return limit().load();
}
void set_num_threads(int n) {
  limit().store(std::max(1, n));
}

int resolve_jobs(int n_jobs) {
  const int cpus = usable_cpus(), all = std::min(num_threads(), cpus);
  if (n_jobs == 0) return all;
  if (n_jobs < 0) return std::max(1, std::min(all, cpus + 1 + n_jobs));
  return std::min(n_jobs, cpus);
}

void parallel_for(int threads, Index tasks, const std::function<void(Index, int)>& body,
                  const std::function<void()>& idle) {
  threads = static_cast<int>(std::min<Index>(threads, tasks));
  if (threads <= 1 || inside_pool) {
    for (Index t = 0; t < tasks; ++t) body(t, 0);
    return;
  }
  pool().run(threads, tasks, body, idle);
}

}  // namespace mercer
