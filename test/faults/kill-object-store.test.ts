import { after } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { onPostgres } from '../harness/engines.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { deathsAtPoints } from './deaths.ts'
import { inPartsBackwards, withChecksum } from './uploads.ts'

endProgramsAfterTests()
after(closeConnections)

onPostgres((engine) => deathsAtPoints(engine, { objectStore: true, through: [withChecksum, inPartsBackwards] }))
