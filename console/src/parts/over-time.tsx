import { SegmentedControl } from '@mantine/core'
import type { ComponentProps } from 'react'
import { t } from '../words/words.ts'
import { Chart, type Drawing } from './chart.tsx'
import { Section } from './page.tsx'
import { Shown } from './states.tsx'

/** A chart of the last days, of which there is a choice. */
export function OverTime<Data>({
  title,
  spans,
  days,
  choose,
  read,
  drawn,
  ...look
}: {
  readonly title: string
  readonly spans: readonly number[]
  readonly days: number
  readonly choose: (days: number) => void
  readonly read: ComponentProps<typeof Shown<Data>>['of']
  /** Null where there is nothing to draw yet. */
  readonly drawn: Pick<Drawing, 'times' | 'series'> | null
} & Pick<Drawing, 'ofBytes' | 'say'>) {
  return (
    <Section
      title={title}
      actions={
        <SegmentedControl
          aria-label={t('chart.span')}
          size="xs"
          value={String(days)}
          onChange={(next) => choose(Number(next))}
          data={spans.map((span) => ({ value: String(span), label: t('me.days', { days: span }) }))}
        />
      }
    >
      <Shown of={read} rows={4}>
        {() =>
          drawn === null ? (
            <p className="muted">{t('chart.none')}</p>
          ) : (
            <Chart label={title} {...drawn} days={days} {...look} />
          )
        }
      </Shown>
    </Section>
  )
}
