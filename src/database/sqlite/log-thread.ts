import { isMainThread, type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { sqliteLogCopyFrames, sqliteLogRestartFrames } from '../../kernel/limits/engines.ts'
import { isPassing } from './errors.ts'
import { lockFile } from './file-lock.ts'
import { type LogFrames, LogKeeper } from './log-keeper.ts'

export interface LogThreadData {
  readonly path: string
}

/** What the thread is asked: to look and copy what is due; whatever is there; to begin the log anew; to end. */
export type LogTask = 'copy' | 'copy all' | 'restart' | 'close'

/** The answer. Without the keeper's lock nothing was done: another process looks after the log. */
export type LogAnswer =
  | { readonly kind: 'done'; readonly log: LogFrames | null; readonly restartDue: boolean; readonly allCopied: boolean }
  | { readonly kind: 'failed'; readonly passing: boolean; readonly message: string }

/** One of all processes on a database looks after its log: whoever holds this lock. */
export const keeperLock = (path: string): string => `${path}-keeper`

const createAnswering = ({ path }: LogThreadData): ((task: LogTask) => LogAnswer) => {
  let lock: Disposable | null = null
  let keeper: LogKeeper | null = null
  const kept = (): LogKeeper | null => {
    lock ??= lockFile(keeperLock(path), 'exclusive')
    if (lock === null) return null
    keeper ??= new LogKeeper(path)
    return keeper
  }
  const perform = (task: LogTask): LogAnswer => {
    if (task === 'close') {
      keeper?.close()
      keeper = null
      lock?.[Symbol.dispose]()
      return { kind: 'done', log: null, restartDue: false, allCopied: false }
    }
    const own = kept()
    if (own === null) return { kind: 'done', log: null, restartDue: false, allCopied: false }
    if (task === 'restart') own.restart()
    let log = own.look()
    const waiting = log.frames - log.copied
    if (task !== 'restart' && waiting > 0 && (task === 'copy all' || waiting >= sqliteLogCopyFrames)) log = own.copy()
    const due = log.frames >= sqliteLogRestartFrames && log.frames - log.copied < sqliteLogCopyFrames
    return { kind: 'done', log, restartDue: due, allCopied: log.frames === log.copied }
  }
  return (task) => {
    try {
      return perform(task)
    } catch (error) {
      return { kind: 'failed', passing: isPassing(error), message: described(error) }
    }
  }
}

const described = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

const serve = (data: LogThreadData, port: MessagePort): void => {
  const answer = createAnswering(data)
  port.on('message', (task: LogTask) => {
    port.postMessage(answer(task))
    if (task === 'close') port.close()
  })
}

// The program of a thread: elsewhere, importing it does nothing.
if (!isMainThread && parentPort !== null) serve(workerData, parentPort)
