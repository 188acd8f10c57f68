import type { Transaction } from '../../../database/database.ts'
import { beyondCutoffs, lookAt } from '../../../features/lifecycle/policies/beyond.ts'
import type { ImageTold, KeptKind, ShownImage, UnwantedImage } from '../../../features/lifecycle/policies/kept-kinds.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { tagsShownMax } from '../../../kernel/limits/lifecycle.ts'
import { tagsPerRemoval } from '../../../kernel/limits/oci.ts'
import { type ImageName, removeTagsOf } from '../tags.ts'
import { oldestTagsOf, tagsOfAfter } from './counted.queries.ts'
import { taggedImages } from './counted.ts'
import { type ImageJudgement, judgeImages, mayGo } from './judgement.ts'

const unwanted = ({ id, image, digest, taggedAt }: ImageJudgement): UnwantedImage => ({ id, image, digest, taggedAt })

/**
 * Images under a storage policy. To delete one is to take its tags away: nothing keeps its manifest then, so that it
 * stays for the grace period, in which a tag can be put back, and goes with what it lists, what refers to it and their
 * layers.
 */
export const keptImages: KeptKind = {
  async *look(q, repository, rules, nowMs) {
    const look = lookAt(taggedImages(q, repository), rules, nowMs)
    for await (const ids of beyondCutoffs(look))
      yield [...(await judgeImages(q, repository, look, ids)).values()].filter(mayGo).map(unwanted)
  },

  async show(q, images) {
    const shown: ShownImage[] = []
    for (const image of images) shown.push({ ...image, tags: await tagsOfAfter(q, image.id, '', tagsShownMax) })
    return shown
  },

  async remove(tx, repository, { rules, images, actor, nowMs }) {
    const look = lookAt(taggedImages(tx, repository), rules, nowMs)
    const ids = images.map(({ id }) => id)
    const judged = await judgeImages(tx, repository, look, ids)
    const told: ImageTold[] = []
    let room = tagsPerRemoval
    for (const { id, image, digest } of images) {
      if (room === 0) break
      const judgement = judged.get(id)
      const { blockers = [], keptBy = [], oldEnough = false } = judgement ?? {}
      const known = { id, image, digest, blockers }
      if (judgement === undefined || keptBy.length > 0 || !oldEnough) told.push({ ...known, outcome: 'not_eligible' })
      else if (blockers.length > 0) told.push({ ...known, outcome: 'protected' })
      else {
        const by = { actor, now: timestamp(nowMs) }
        const { taken, left } = await takeTagsAway(tx, { repository, name: image }, id, by, room)
        room -= taken
        told.push({ ...known, outcome: left ? 'partly' : 'deleted' })
      }
    }
    return told
  },
}

/** Takes the tags of a manifest away, those first that came first: so long as some are left, its age stays. */
const takeTagsAway = async (
  tx: Transaction,
  image: ImageName,
  manifestId: string,
  by: { readonly actor: string; readonly now: string },
  room: number,
): Promise<{ readonly taken: number; readonly left: boolean }> => {
  const found = await oldestTagsOf(tx, manifestId, room + 1)
  const taken = found.slice(0, room)
  await removeTagsOf(tx, { ...image, id: manifestId }, taken, by)
  return { taken: taken.length, left: found.length > room }
}
