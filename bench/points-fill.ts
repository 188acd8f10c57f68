import { rebuildDerived } from '../src/database/moving/rows.queries.ts'
import { openEngines, realEnvironment } from '../src/main/engines.ts'
import { openLog } from '../src/main/log.ts'
import { readSettings } from '../src/main/settings/rules.ts'
import { NumberedBlobs, publishNumbered } from './numbered-files.ts'

/*
 * Publishes so many generated files where the settings of its environment say, and ends: so that the memory which that
 * takes is not counted for what is measured afterwards.
 */

const stack = new AsyncDisposableStack()
const { database } = await openEngines(readSettings(process.env), await openLog('error'), realEnvironment, stack)
await publishNumbered(database, new NumberedBlobs(), Number(process.argv[2]))
await database.patient.transaction((tx) => rebuildDerived(tx, database.engine))
await stack.disposeAsync()
