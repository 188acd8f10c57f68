import { refuseUnfinishedImport } from '../../features/operating/moving/unfinished.ts'
import { type Engines, type Environment, makeDataDir, openEngines, realEnvironment } from '../engines.ts'
import { openLog } from '../log.ts'
import { readSettings } from '../settings/rules.ts'

interface Options {
  readonly environment?: Environment | undefined
  /** Whether the command works while an import into the database is not finished. */
  readonly duringImport?: boolean
  /** Whether the command begins a database where there is none. */
  readonly begins?: boolean
  /** Which schema the database is to have; that of the program by default. */
  readonly schema?: number
}

/** Runs a command on the engines directly, beside a running service or without one. */
export const withEngines = async (
  work: (engines: Engines) => Promise<void>,
  { environment = realEnvironment, duringImport = false, begins = false, schema }: Options = {},
): Promise<void> => {
  const settings = readSettings(process.env)
  const stack = new AsyncDisposableStack()
  try {
    if (begins) await makeDataDir(settings)
    const engines = await openEngines(
      settings,
      await openLog(settings.logLevel),
      environment,
      stack,
      schema === undefined ? {} : { schema },
    )
    if (!duringImport) await refuseUnfinishedImport(engines.database)
    await work({ ...engines, database: engines.database.patient })
  } finally {
    await stack.disposeAsync()
  }
}
