import { useQuery } from '@tanstack/react-query'
import { Shown } from '../../parts/states.tsx'
import { Written } from '../../parts/values.tsx'
import { lineDifferences } from '../../values/line-differences.ts'
import { t } from '../../words/words.ts'
import { bytesOf, isText, textBytesMax } from './bytes.ts'

interface Sized {
  readonly id: string
  readonly size: number
}

const signs = { same: ' ', added: '+', removed: '−', between: ' ' } as const

/** Line by line what differs, where both are text and not too long. */
export const Differences = ({
  repository,
  one,
  other,
}: {
  readonly repository: string
  readonly one: Sized
  readonly other: Sized
}) => {
  const short = Math.max(one.size, other.size) <= textBytesMax
  const read = useQuery({
    queryKey: ['differences', repository, one.id, other.id],
    enabled: short,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const [before, after] = await Promise.all(
        [one, other].map(async ({ id, size }) =>
          size === 0 ? '' : (await bytesOf(repository, id, textBytesMax, signal)).text(),
        ),
      )
      if (before === undefined || after === undefined || !isText(before) || !isText(after)) return null
      return lineDifferences(before, after)
    },
  })
  if (!short) return <p className="muted">{t('file.tooLarge')}</p>
  return (
    <Shown of={read} rows={4}>
      {(lines) =>
        lines === null ? (
          <p className="muted">{t('file.tooLarge')}</p>
        ) : (
          <>
            <p className="muted small">
              {t('file.lines', {
                added: lines.filter(({ kind }) => kind === 'added').length,
                removed: lines.filter(({ kind }) => kind === 'removed').length,
              })}
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
            <section className="differences" tabIndex={0} aria-label={t('file.compare')}>
              <ol>
                {lines.map(({ kind, text }, at) => (
                  <li key={String(at)} className={kind}>
                    <span>{signs[kind]}</span>
                    <Written text={text} lines />
                  </li>
                ))}
              </ol>
            </section>
          </>
        )
      }
    </Shown>
  )
}
