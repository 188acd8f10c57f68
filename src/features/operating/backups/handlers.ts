import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import { actorFrom } from '../../../journal/actor.ts'
import { actorOf } from '../../../kernel/caller.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import * as operations from './operations.ts'
import { readPlan, savePlan } from './plan.ts'
import { pointContents } from './point-contents.ts'
import { pointDetails } from './point-details.ts'
import type { PointReader } from './point-reader.ts'
import { currentVault, giveUpPoint, pinPoint, pointPage } from './points.ts'
import { positionIn } from './positions.ts'
import { backupJobPage, requestCapture, requestVerify } from './requests.ts'
import { backupStatus } from './status.ts'

export interface BackupHandlerDeps {
  readonly database: Database
  readonly clock: Clock
  readonly backupsConfigured: boolean
  readonly points: PointReader
}

const asked = ({ id, kind, state }: Awaited<ReturnType<typeof requestCapture>>) => ({ id, kind, state })

export const backupHandlers = (deps: BackupHandlerDeps): BoundOperation[] => {
  const { reader } = deps.database
  return [
    handle(operations.getBackupStatus, async () => ({ status: 200, json: await backupStatus(deps) })),
    handle(operations.getBackupPlan, async () => ({ status: 200, json: await readPlan(reader) })),
    handle(operations.putBackupPlan, async (input) => ({
      status: 200,
      json: await savePlan(deps, input.body, actorFrom(input)),
    })),
    handle(operations.runBackup, async ({ caller, headers }) => {
      const job = await requestCapture(deps, { by: actorOf(caller), key: headers['idempotency-key'] })
      return { status: 202, json: asked(job) }
    }),
    handle(operations.listBackupJobs, async ({ query: { after, limit = pageDefault } }) => ({
      status: 200,
      json: await backupJobPage(reader, positionIn(after), limit),
    })),
    handle(operations.listBackupPoints, async ({ query: { after, limit = pageDefault } }) => ({
      status: 200,
      json: await pointPage(reader, positionIn(after), limit),
    })),
    handle(operations.verifyBackupPoint, async ({ path, caller, headers }) => {
      const asker = { by: actorOf(caller), key: headers['idempotency-key'] }
      return { status: 202, json: asked(await requestVerify(deps, await currentVault(reader), path.id, asker)) }
    }),
    handle(operations.pinBackupPoint, async (input) => ({
      status: 200,
      json: await pinPoint(deps, input.path.id, input.body.pinned, actorFrom(input)),
    })),
    handle(operations.getBackupPoint, async ({ path }) => ({ status: 200, json: await pointDetails(deps, path.id) })),
    handle(operations.listBackupPointContents, async ({ path, query }) => {
      const sought = { repository: query.repository ?? null, kind: query.kind ?? null, name: query.name ?? null }
      const { after, limit = pageDefault } = query
      return { status: 200, json: await pointContents(deps, path.id, sought, after, limit) }
    }),
    handle(operations.deleteBackupPoint, async (input) => {
      await giveUpPoint(deps, input.path.id, input.body.confirm, actorFrom(input))
      return { status: 204, json: null }
    }),
  ]
}
