export interface Line {
  readonly kind: 'same' | 'added' | 'removed' | 'between'
  readonly text: string
}

const linesMax = 5_000
const stepsMax = 2_000_000
const around = 3

/**
 * What differs between two texts, line by line, with a few lines around it. Null where that would take too long: texts of
 * very many lines that have little in common.
 */
export const lineDifferences = (one: string, other: string): Line[] | null => {
  const [before, after] = [one.split('\n'), other.split('\n')]
  if (before.length > linesMax || after.length > linesMax) return null
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1
  let tail = 0
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail += 1
  const [removed, added] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)]
  if (removed.length * added.length > stepsMax) return null
  const line = (kind: Line['kind'], text: string): Line => ({ kind, text })
  return shortened([
    ...before.slice(0, head).map((text) => line('same', text)),
    ...between(removed, added).map(([kind, text]) => line(kind, text)),
    ...before.slice(before.length - tail).map((text) => line('same', text)),
  ])
}

/** By the longest common subsequence. */
const between = (one: readonly string[], other: readonly string[]): [Line['kind'], string][] => {
  const width = other.length + 1
  const common = new Uint16Array((one.length + 1) * width)
  for (let i = one.length - 1; i >= 0; i -= 1)
    for (let j = other.length - 1; j >= 0; j -= 1)
      common[i * width + j] =
        one[i] === other[j]
          ? (common[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0)
  const lines: [Line['kind'], string][] = []
  let [i, j] = [0, 0]
  while (i < one.length || j < other.length) {
    const [left, right] = [one[i], other[j]]
    if (left !== undefined && left === right) {
      lines.push(['same', left])
      i += 1
      j += 1
    } else if (
      left !== undefined &&
      (right === undefined || (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))
    ) {
      lines.push(['removed', left])
      i += 1
    } else {
      lines.push(['added', right ?? ''])
      j += 1
    }
  }
  return lines
}

/** Without what is the same and not near anything that differs. */
const shortened = (lines: readonly Line[]): Line[] => {
  const near = new Set<number>()
  for (const [at, { kind }] of lines.entries())
    if (kind !== 'same') for (let beside = at - around; beside <= at + around; beside += 1) near.add(beside)
  const shown: Line[] = []
  for (const [at, line] of lines.entries())
    if (near.has(at)) shown.push(line)
    else if (shown.at(-1)?.kind !== 'between') shown.push({ kind: 'between', text: '⋯' })
  return shown
}
