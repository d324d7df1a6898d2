#include "thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
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
  std::atomic<int> seats{0};    ///< workers that may still join
  std::atomic<int> running{0};  ///< workers inside the job
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

class Pool {
 public:
  ~Pool() {
    {
      std::lock_guard guard(lock_);
      quit_ = true;
      epoch_.fetch_add(1);
    }
    wake_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  void run(int threads, Index tasks, const std::function<void(Index, int)>& body,
           const std::function<void()>& idle) {
    std::unique_lock one_at_a_time(run_lock_);
    grow(threads - 1);
    Job job;
    job.body = &body;
    job.tasks = tasks;
    job.seats.store(threads - 1);
    {
      std::lock_guard guard(lock_);
      job_ = &job;
      epoch_.fetch_add(1, std::memory_order_release);
    }
    if (sleepers_.load() > 0) wake_.notify_all();
    inside_pool = true;
    job.work(0);
    inside_pool = false;
    // Nobody may join any more; then wait for those inside.
    {
      std::lock_guard guard(lock_);
      job_ = nullptr;
    }
    for (unsigned spins = 0; job.running.load(std::memory_order_acquire) > 0; ++spins) {
      relax();
      if (idle && spins % 4096 == 4095) idle();
    }
    if (job.error) std::rethrow_exception(job.error);
  }

 private:
  void grow(int workers) {
    while (static_cast<int>(threads_.size()) < workers) {
      const unsigned seen = epoch_.load();
      threads_.emplace_back([this, seen] { loop(seen); });
    }
  }

  void loop(unsigned seen) {
    inside_pool = true;
    for (;;) {
      // About twenty microseconds of spinning bridges the serial parts of a solver.
      for (int spin = 0; spin < 4000 && epoch_.load(std::memory_order_acquire) == seen; ++spin)
        relax();
      std::unique_lock guard(lock_);
      while (epoch_.load() == seen) {
        sleepers_.fetch_add(1);
        wake_.wait(guard);
        sleepers_.fetch_sub(1);
      }
      seen = epoch_.load();
      if (quit_) return;
      Job* job = job_;
      int worker = 0;
      if (job) {
        worker = job->seats.fetch_sub(1);
        if (worker > 0) job->running.fetch_add(1);
      }
      guard.unlock();
      if (job && worker > 0) {
        job->work(worker);
        job->running.fetch_sub(1, std::memory_order_release);
      }
    }
  }

  std::mutex run_lock_;
  std::mutex lock_;
  std::condition_variable wake_;
  std::vector<std::thread> threads_;
  std::atomic<unsigned> epoch_{0};
  std::atomic<int> sleepers_{0};
  Job* job_ = nullptr;
  bool quit_ = false;
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
  int n = static_cast<int>(std::thread::hardware_concurrency());
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) n = CPU_COUNT(&set);
#endif
  return std::max(1, std::min(n, cgroup_quota()));
}

int num_threads() {
  return limit().load();
}
void set_num_threads(int n) {
  limit().store(std::max(1, n));
}

int resolve_jobs(int n_jobs) {
  const int all = num_threads();
  if (n_jobs == 0) return all;
  if (n_jobs < 0) return std::max(1, std::min(all, usable_cpus() + 1 + n_jobs));
  return n_jobs;
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
