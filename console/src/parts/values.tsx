import { type ReactNode, useEffect, useState } from 'react'
import { exactBytes, exactTime, relativeTime, shortBytes } from '../values/format.ts'
import { piecesOf, seen } from '../values/unseen.ts'
import { t } from '../words/words.ts'
import { Copy } from './copy.tsx'

/**
 * What others wrote, as it is: what would not be seen is called by its name, and nothing in it turns what stands beside it.
 * Names of files come from anybody.
 */
export const Written = ({
  text,
  mono = false,
  lines = false,
  muted = false,
}: {
  readonly text: string
  readonly mono?: boolean
  /** Whether lines and columns belong to it. */
  readonly lines?: boolean
  readonly muted?: boolean
}) => (
  <bdi className={[mono ? 'mono' : '', muted ? 'muted' : ''].filter(Boolean).join(' ') || undefined}>
    {piecesOf(text, { lines }).map((piece, at) =>
      piece.isUnseen ? (
        <span key={String(at)} className="unseen" title={t('value.unseen')}>
          {piece.text}
        </span>
      ) : (
        piece.text
      ),
    )}
  </bdi>
)

/** Whatever is shown somewhere; a text may be somebody's. */
export const shownAs = (what: ReactNode): ReactNode => (typeof what === 'string' ? <Written text={what} /> : what)

/** A size: short, and to the byte for whoever points at it. */
export const Size = ({ bytes }: { readonly bytes: string | number }) => (
  <data className="size" value={String(bytes)} title={exactBytes(Number(bytes))}>
    {shortBytes(Number(bytes))}
  </data>
)

const listeners = new Set<() => void>()
let _ticking: ReturnType<typeof setInterval> | undefined

/** One clock for all that is shown relative to now. */
const useNow = (): number => {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const tick = (): void => setNow(Date.now())
    listeners.add(tick)
    _ticking ??= setInterval(() => {
      for (const each of listeners) each()
    }, 15_000)
    return () => {
      listeners.delete(tick)
    }
  }, [])
  return now
}

/** A moment: how long ago, and exactly with its zone for whoever points at it. */
export const Moment = ({ at }: { readonly at: string }) => {
  const now = useNow()
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(at, now)}
    </time>
  )
}

const marks = [0, 1, 2, 3, 4, 5] as const

/** Six bars from the first 24 bits of a digest: the same bytes have the same mark. */
export const ByteMark = ({ sha256 }: { readonly sha256: string }) => (
  <svg className="byte-mark" width="22" height="14" viewBox="0 0 22 14" aria-hidden="true" focusable="false">
    {marks.map((bar) => {
      const height = 2 + (Number.parseInt(sha256[bar] ?? '0', 16) / 15) * 12
      return <rect key={bar} x={bar * 4} y={14 - height} width="2.5" height={height} rx="0.5" />
    })}
  </svg>
)

/** A digest, short: its mark, its beginning, and all of it for who copies it. */
export const Digest = ({ sha256 }: { readonly sha256: string }) => {
  const bare = sha256.replace(/^sha256:/, '')
  return (
    <span className="digest">
      <ByteMark sha256={bare} />
      <code title={bare}>{bare.slice(0, 12)}</code>
      <Copy text={bare} what={t('value.digest')} />
    </span>
  )
}

/** Who did something, by the name of today or by what the journal wrote. */
export const Actor = ({ actor, name }: { readonly actor: string; readonly name: string | null | undefined }) => {
  const kind = actor.split(':', 1)[0] ?? ''
  return (
    <span className="actor" title={actor}>
      <Written text={name ?? (kind === actor ? actor : `${kind}:${actor.slice(kind.length + 1, kind.length + 9)}…`)} />
    </span>
  )
}

/** A word with a meaning: colour, and always the word. */
export const Tag = ({
  text,
  tone = 'plain',
}: {
  readonly text: string
  readonly tone?: 'plain' | 'ok' | 'warn' | 'danger' | 'info' | 'accent'
}) => <span className={tone === 'plain' ? 'tag' : `tag ${tone}`}>{shownAs(text)}</span>

/** How much of something is used. A `meter` element cannot be drawn alike everywhere. */
export const Meter = ({
  name,
  part,
  tone = '',
}: {
  readonly name: string
  readonly part: number
  readonly tone?: string
}) => (
  <div
    className={`meter ${tone}`}
    role="progressbar"
    aria-label={seen(name)}
    aria-valuemin={0}
    aria-valuemax={100}
    aria-valuenow={Math.round(part * 100)}
    style={{ '--part': part } as Record<string, number>}
  >
    <span />
  </div>
)
