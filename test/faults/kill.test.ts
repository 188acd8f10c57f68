import { after } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { onPostgres, onSqlite } from '../harness/engines.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { deathsAtPoints } from './deaths.ts'
import { doors, inChunks, inParts } from './uploads.ts'

endProgramsAfterTests()
after(closeConnections)

onSqlite((engine) => deathsAtPoints(engine, { objectStore: false, through: [...doors, inParts] }))
/** The other doors die on PostgreSQL in front of an object store. */
onPostgres((engine) => deathsAtPoints(engine, { objectStore: false, through: [inChunks, inParts] }))
