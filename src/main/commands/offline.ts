import { refuseUnfinishedImport } from '../../features/operating/moving/unfinished.ts'
import { openLog } from '../log.ts'
import { makeDataDir, openParts, type Parts, realStage, type Stage } from '../parts.ts'
import { readSettings } from '../settings/rules.ts'

interface Options {
  readonly stage?: Stage | undefined
  /** Whether the command works while an import into the database is not finished. */
  readonly duringImport?: boolean
  /** Whether the command begins a database where there is none. */
  readonly begins?: boolean
}

/** Runs a command on the engines directly, beside a running service or without one. */
export const withParts = async (
  work: (parts: Parts) => Promise<void>,
  { stage = realStage, duringImport = false, begins = false }: Options = {},
): Promise<void> => {
  const settings = readSettings(process.env)
  const stack = new AsyncDisposableStack()
  try {
    if (begins) await makeDataDir(settings)
    const parts = await openParts(settings, await openLog(settings.logLevel), stage, stack)
    if (!duringImport) await refuseUnfinishedImport(parts.database)
    await work({ ...parts, database: parts.database.patient })
  } finally {
    await stack.disposeAsync()
  }
}
