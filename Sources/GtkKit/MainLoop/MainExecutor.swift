import CGtk
import Synchronization

/// Runs the jobs of the main actor in the GLib main loop.
///
/// Otherwise Swift enqueues them in the Dispatch main queue, which wakes the main loop through the kernel for each job,
/// even if the main thread enqueued it, as it does nearly always.
nonisolated enum MainExecutor {
    private static let jobs = Mutex<[UnownedJob]>([])

    /// Takes over the jobs that are enqueued from now on. Those before remain with Dispatch.
    static func attach() {
        let functions = UnsafeMutablePointer<GSourceFuncs>.allocate(capacity: 1)
        functions.initialize(
            to: GSourceFuncs(
                prepare: { _, timeout in
                    timeout?.pointee = -1
                    return MainExecutor.hasJobs ? 1 : 0
                },
                check: { _ in MainExecutor.hasJobs ? 1 : 0 },
                dispatch: { _, _, _ in
                    MainExecutor.run()
                    return 1
                }, finalize: nil, closure_callback: nil, closure_marshal: nil))
        // For as long as the process runs, as the hook is.
        let source = g_source_new(functions, guint(MemoryLayout<GSource>.size))
        g_source_set_static_name(source, "Main actor")
        g_source_attach(source, nil)
        shim_enqueue_main_jobs()
    }

    private static var hasJobs: Bool { jobs.withLock { !$0.isEmpty } }

    fileprivate static func enqueue(_ job: UnownedJob) {
        jobs.withLock { $0.append(job) }
        // While the main loop dispatches on this thread, it looks for jobs before it waits again.
        if g_main_depth() == 0 || g_main_context_is_owner(nil) == 0 { g_main_context_wakeup(nil) }
    }

    /// Includes jobs that are enqueued meanwhile, as Dispatch does.
    private static func run() {
        let executor = MainActor.sharedUnownedExecutor
        while true {
            var batch: [UnownedJob] = []
            jobs.withLock { swap(&$0, &batch) }
            guard !batch.isEmpty else { return }
            for job in batch { job.runSynchronously(on: executor) }
        }
    }
}

/// Called by the Swift runtime for each job of the main actor, on any thread. Its name and parameters are the header's.
@_silgen_name("parlance_enqueue_main_job")
nonisolated func enqueueMainJob(_ job: UnownedJob, _ original: OpaquePointer?) { MainExecutor.enqueue(job) }
