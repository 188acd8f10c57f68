import { release } from '../../content/claims/claims.ts'
import type { Database, Queries } from '../../database/database.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { damage, type Finding } from '../../kernel/finding.ts'
import { findingsMax } from '../../kernel/limits/upkeep.ts'
import { day } from '../../kernel/units.ts'
import {
  blobsMisjudged,
  blobsWithoutClaim,
  claimsWithoutBlobRow,
  emptyImages,
  imagesMiscounted,
  manifestsMiscounted,
  manifestsMisjudged,
  manifestsOfOtherBytes,
  referencesToOtherBytes,
  referencesWithoutBytes,
  tagsBesideMoves,
  unusedFromLater,
  unusedFromNow,
} from './checks.queries.ts'

type Look = readonly [find: (q: Queries, limit: number) => Promise<string[]>, say: (what: string) => string]

const looks: readonly Look[] = [
  [
    blobsMisjudged,
    (id) => `the blob ${id} of images is kept although no manifest names it, or would go although one does`,
  ],
  [
    manifestsMisjudged,
    (id) => `the manifest ${id} is kept although nothing asks for that, or would go although something does`,
  ],
  [manifestsMiscounted, (id) => `the manifest ${id} is not counted by storage policies from its newest tag on`],
  [manifestsOfOtherBytes, (id) => `the manifest ${id} is found by another digest than its bytes have`],
  [referencesToOtherBytes, (id) => `the manifest ${id} leads to other bytes than it names`],
  [referencesWithoutBytes, (id) => `the manifest ${id} is without bytes that it names and its repository has`],
  [tagsBesideMoves, (tag) => `the tag ${tag} is not where it was moved to last`],
  [imagesMiscounted, (image) => `the image ${image} is not said to have the tags and manifests that it has`],
  [emptyImages, (image) => `the image ${image} has no manifest`],
]

/**
 * Proves that images have their bytes, that tags are where they were moved to, and that what is in use is known to be.
 */
export async function* checkImages(deps: { database: Database; clock: Clock }): AsyncGenerator<Finding> {
  const { database, clock } = deps
  const q = database.reader
  for (const { id, repository } of await blobsWithoutClaim(q, findingsMax))
    yield damage(`repository ${repository}: the blob ${id} of images has no live claim on its bytes`)
  for (const { id, repository, state } of await claimsWithoutBlobRow(q, findingsMax)) {
    const giveUp = async (): Promise<void> => {
      await database.transaction((tx) => release(tx, id, timestamp(clock.now())))
    }
    const text = `the claim ${id} has no holder: neither a blob of images nor an upload that is under way`
    yield damage(`repository ${repository}: ${text}`, state === 'live' ? null : giveUp)
  }
  // Clocks of several processes differ, by less than that.
  for (const id of await unusedFromLater(q, timestamp(clock.now() + day), findingsMax))
    yield damage(`${id} of images would stay for ever: nothing keeps it from a moment on that is still to come`, () =>
      database.transaction((tx) => unusedFromNow(tx, id, timestamp(clock.now()))),
    )
  for (const [find, say] of looks) for (const what of await find(q, findingsMax)) yield damage(say(what))
}
