import { lazy, Suspense } from 'react'
import { exactTime } from '../values/format.ts'
import { t } from '../words/words.ts'
import { Loading } from './states.tsx'

interface Series {
  readonly name: string
  readonly values: readonly (number | null)[]
}

export interface Drawing {
  readonly label: string
  /** Moments, as texts of the service. */
  readonly times: readonly string[]
  readonly series: readonly Series[]
  /** How far back it goes, to now. */
  readonly days: number
  /** Values are bytes, whose steps are powers of two. */
  readonly ofBytes?: boolean
  /** How a value is said. */
  readonly say: (value: number) => string
}

/** What draws comes only where something is drawn. */
const Drawn = lazy(async () => ({ default: (await import('./drawn.tsx')).Drawn }))

const rowsShown = 50

/** Something over time: lines, and the same as a table for whoever would rather read it. */
export const Chart = (drawing: Drawing) => {
  const { label, times, series, say } = drawing
  const newest = times
    .map((time, at) => ({ time, at }))
    .slice(-rowsShown)
    .reverse()
  return (
    <div className="panel">
      <ul className="legend">
        {series.map(({ name }, at) => (
          <li key={name}>
            <span className={`swatch s${at}`} />
            {name}
          </li>
        ))}
      </ul>
      <Suspense fallback={<Loading rows={3} />}>
        <Drawn {...drawing} />
      </Suspense>
      <details>
        <summary>{t('chart.table')}</summary>
        <div className="scroll-x">
          <table className="plain-table">
            <caption className="off-screen">{label}</caption>
            <thead>
              <tr>
                <th>{t('activity.when')}</th>
                {series.map(({ name }) => (
                  <th key={name} className="end">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {newest.map(({ time, at }) => (
                <tr key={time}>
                  <td>{exactTime(time)}</td>
                  {series.map(({ name, values }) => {
                    const value = values[at] ?? null
                    return (
                      <td key={name} className="end">
                        {value === null ? '–' : say(value)}
                      </td>
                    )
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </div>
  )
}
