import { createLog } from '../log.ts'
import { openParts, type Parts, realStage, type Stage } from '../parts.ts'
import { readSettings } from '../settings/rules.ts'

/** Runs a command on the engines directly, beside a running service or without one. */
export const withParts = async (work: (parts: Parts) => Promise<void>, stage: Stage = realStage): Promise<void> => {
  const settings = readSettings(process.env)
  const stack = new AsyncDisposableStack()
  try {
    await work(await openParts(settings, createLog(settings.logLevel), stage, stack))
  } finally {
    await stack.disposeAsync()
  }
}
