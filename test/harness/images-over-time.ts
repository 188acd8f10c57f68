import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { reclaim } from '../../src/content/reclaim/reclaim.ts'
import { hour } from '../../src/kernel/units.ts'
import { settleImages } from '../../src/protocols/oci/jobs.ts'
import type { TestEngine } from './engines.ts'
import { imageSite, pusher } from './images.ts'
import { type Inspection, openInspection } from './inspection.ts'
import { signIn } from './people.ts'

/** A site of images without a worker: the test lets time pass, and does the upkeep when it wants it done. */
export const imagesOverTime = (engine: TestEngine) => {
  const site = imageSite(engine, { roles: { gateway: 'api', worker: false } })
  let inspection: Inspection
  let token = ''
  before(async () => {
    inspection = await openInspection(site.service)
    token = site.owner.token
  })
  after(() => inspection.close())

  const expect: typeof site.expect = (given, status, code) => site.expect({ credential: token, ...given }, status, code)
  const settle = (graceHours = 24): Promise<void> =>
    settleImages({ ...inspection, cleanupGraceMs: graceHours * hour, report: assert.ifError })

  return {
    site,
    get inspection() {
      return inspection
    },
    /** Of the owner, who signs in again whenever time has passed. */
    get token() {
      return token
    },
    expect,
    ...pusher(expect),
    pass: async (ms: number): Promise<void> => {
      site.service.clock.advance(ms)
      token = await signIn(site.service, site.owner.name)
    },
    settle,
    /** Settles what images leave, and frees the bytes that nothing names any more. */
    tidy: async (): Promise<void> => {
      await settle()
      await reclaim(inspection)
    },
  }
}
