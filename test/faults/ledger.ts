import assert from 'node:assert/strict'
import type { Told } from '../harness/client.ts'
import { fetchBytes, type Target } from './uploads.ts'

type Content = Buffer | null

const same = (one: Content, other: Content): boolean =>
  one === null || other === null ? one === other : one.equals(other)

/**
 * What must be where: what was acknowledged, and of a change without an answer either what was there or what was asked
 * for. One client at a time changes a place.
 */
export class Ledger {
  readonly #places = new Map<string, readonly Content[]>()
  /** Places that were looked at. */
  checked = 0

  /** Makes the change. Null when there was no answer, or one that says nothing of what became of it. */
  async change(place: string, to: Content, attempt: () => Promise<Told | null>): Promise<Told | null> {
    this.#places.set(place, [...(this.#places.get(place) ?? [null]), to])
    const told = await attempt()
    if (told !== null) this.#places.set(place, [to])
    return told
  }

  /** Reads every place back, bit by bit. What is there now is what must be there from now on. */
  async verify(from: Target): Promise<void> {
    for (const [place, allowed] of this.#places) {
      const found = await fetchBytes(from, place)
      const what = allowed.map((content) => (content === null ? 'nothing' : `${content.byteLength} bytes`)).join(' or ')
      assert.ok(
        allowed.some((content) => same(content, found)),
        `${place} must have ${what}, and has ${found === null ? 'nothing' : `${found.byteLength} bytes`}, maybe others`,
      )
      this.#places.set(place, [found])
      if (allowed.length === 1) this.checked += 1
      // What is gone and stays so is looked at once more, and then forgotten.
      if (found === null && allowed.length === 1) this.#places.delete(place)
    }
  }
}
