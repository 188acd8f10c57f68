import 'uplot/dist/uPlot.min.css'
import { useMantineColorScheme } from '@mantine/core'
import { useEffect, useRef } from 'react'
import Plot from 'uplot'
import { language } from '../words/words.ts'
import type { Drawing } from './chart.tsx'

const height = 220
/** Lines differ by their dashes as well, for whoever does not tell the colours apart. */
const dashes = [[], [8, 4], [2, 4], [12, 4, 2, 4], [4, 4]]

const binarySteps = Array.from({ length: 50 }, (_, power) => 2 ** power)

const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

const axis = (size: number) => ({
  stroke: colour('--muted'),
  font: '12px "IBM Plex Sans Variable", sans-serif',
  grid: { stroke: colour('--border'), width: 1 },
  ticks: { stroke: colour('--border'), width: 1 },
  size,
})

/** The lines of a chart. A value holds until the next one, so they are steps. */
export const Drawn = ({ label, times, series, days, ofBytes = false, say }: Drawing) => {
  const { colorScheme } = useMantineColorScheme()
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const host = place.current
    // The colours are those of the theme, which has drawn them already.
    if (host === null || colorScheme === undefined) return
    const format = new Intl.DateTimeFormat(language(), {
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
    })
    const dayOnly = new Intl.DateTimeFormat(language(), { month: 'short', day: 'numeric' })
    const seconds = times.map((time) => Date.parse(time) / 1000)
    const now = Date.now() / 1000
    const plot = new Plot(
      {
        width: host.clientWidth,
        height,
        legend: { show: false },
        // The last label of the times stands half beside the last line.
        padding: [8, 56, 0, 0],
        cursor: { drag: { x: false, y: false } },
        scales: {
          x: { range: [now - days * 86_400, now] },
          y: { range: (_, __, most) => [0, most <= 0 ? 1 : most * 1.1] },
        },
        axes: [
          {
            ...axis(32),
            values: (_, ticks) => ticks.map((tick) => (days > 3 ? dayOnly : format).format(tick * 1000)),
            space: 110,
          },
          {
            ...axis(84),
            ...(ofBytes ? { incrs: binarySteps } : {}),
            values: (_, ticks) => ticks.map((tick) => say(tick)),
          },
        ],
        series: [
          {},
          ...series.map(({ name }, at) => ({
            label: name,
            stroke: colour(`--chart-${at + 1}`),
            width: 2,
            dash: dashes[at] ?? [],
            points: { show: seconds.length < 2 },
            ...(Plot.paths.stepped === undefined ? {} : { paths: Plot.paths.stepped({ align: 1 }) }),
          })),
        ],
      },
      [seconds, ...series.map(({ values }) => [...values])],
      host,
    )
    const look = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height }))
    look.observe(host)
    return () => {
      look.disconnect()
      plot.destroy()
    }
  }, [times, series, days, ofBytes, say, colorScheme])
  return <div ref={place} className="chart" role="img" aria-label={label} />
}
