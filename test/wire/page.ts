import assert from 'node:assert/strict'

/** Commands of a page, and what the page says that they print. */
export interface Step {
  readonly commands: string
  readonly answer: { readonly form: 'json' | 'text'; readonly text: string } | null
}

/** The blocks of `sh` in their order, each with the block of `json` or `text` that follows before the next one. */
export const stepsOf = (page: string): Step[] => {
  const steps: Step[] = []
  for (const [, form = '', text = ''] of page.matchAll(/^```(\w*)\n(.*?)^```$/gms)) {
    if (form === 'sh') steps.push({ commands: text, answer: null })
    else if (form === 'json' || form === 'text') {
      const last = steps.pop()
      assert.ok(last?.answer === null, `an answer to nothing:\n${text}`)
      steps.push({ ...last, answer: { form, text } })
    } else assert.fail(`a block of ${form || 'no form'}`)
  }
  return steps
}

const changing = {
  id: /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
  digest: /\b[0-9a-f]{64}\b/g,
  time: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g,
} as const

/**
 * Compares what a page says with what was printed. Ids, digests and times are others each time; but what is one on the
 * page is one in the answers, and what are two ids or digests are two, so that the page cannot tell of the wrong file.
 * The size of an archive depends on the program that made it and is taken in the same way.
 */
export const likeThePage = (): ((answer: Step['answer'], printed: string, commands: string) => void) => {
  const meant = new Map<string, string>()
  const namedBy = new Map<string, string>()

  /** The text with the page's words for what changes. */
  const inWordsOfThePage = (kind: string, said: string, seen: string): string => {
    const known = meant.get(said)
    if (known !== undefined) return known === seen ? said : seen
    if (kind !== 'time' && kind !== 'size') {
      if (namedBy.has(seen)) return seen
      namedBy.set(seen, said)
    }
    meant.set(said, seen)
    return said
  }

  const translated = (said: string, seen: string): string => {
    let text = seen
    for (const [kind, pattern] of Object.entries(changing)) {
      const words = said.match(pattern) ?? []
      let count = 0
      text = text.replace(pattern, (found) => {
        const word = words[count++]
        return word === undefined ? found : inWordsOfThePage(kind, word, found)
      })
    }
    return text
  }

  const translatedJson = (said: unknown, seen: unknown, name = ''): unknown => {
    if (typeof said === 'string' && typeof seen === 'string')
      return name === 'size' && /^\d+$/.test(seen)
        ? inWordsOfThePage('size', `size ${said}`, seen).replace('size ', '')
        : translated(said, seen)
    if (Array.isArray(said) && Array.isArray(seen)) return seen.map((item, index) => translatedJson(said[index], item))
    if (typeof said === 'object' && typeof seen === 'object' && said !== null && seen !== null) {
      const fields = new Map<string, unknown>(Object.entries(said))
      return Object.fromEntries(
        Object.entries(seen).map(([key, value]) => [key, translatedJson(fields.get(key), value, key)]),
      )
    }
    return seen
  }

  return (answer, printed, commands) => {
    if (answer === null) return assert.equal(printed, '', commands)
    if (answer.form === 'text') return assert.equal(translated(answer.text, printed), answer.text, commands)
    const said: unknown = JSON.parse(answer.text)
    return assert.deepEqual(translatedJson(said, JSON.parse(printed)), said, commands)
  }
}
