import { after } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { deathsAtPoints } from './deaths.ts'
import { doors, inParts } from './uploads.ts'

endProgramsAfterTests()
after(closeConnections)

forEachEngine((engine) => deathsAtPoints(engine, { objectStore: false, through: [...doors, inParts] }))
