import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useChange, usePages } from '../../contract/asking.ts'
import { Icon } from '../../look/icons.tsx'
import { Act } from '../../parts/act.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Section } from '../../parts/page.tsx'
import { Shown } from '../../parts/states.tsx'
import { tell, tellProblem } from '../../parts/toasts.tsx'
import { Actor, Moment } from '../../parts/values.tsx'
import { useMay } from '../../session/holders.ts'
import { session } from '../../session/session.ts'
import { t } from '../../words/words.ts'
import type { Of } from './of.ts'

const touched = ['listReferences', 'explainArtifact', 'checkArtifactDeletion'] as const

/** Who keeps a file from being deleted, and under which keys; one's own can be given up. */
export const References = ({ repository, id }: Of) => {
  const allowed = useMay()('listReferences', repository)
  const list = usePages(
    'listReferences',
    (after) => ({ path: { repository, id }, ...(after === undefined ? {} : { query: { after: String(after) } }) }),
    { enabled: allowed.may },
  )
  const [open, setOpen] = useState(false)
  const [key, setKey] = useState('')
  const add = useChange('addReference', touched)
  const remove = useChange('removeReference', touched)
  if (!allowed.may) return null
  const mine = `account:${session()?.account.id ?? ''}`
  const giveUp = (given: string): void =>
    remove.mutate(
      { path: { repository, id }, body: { key: given } },
      {
        onError: tellProblem,
        onSuccess: () =>
          tell(t('reference.wasGivenUp', { key: given }), () =>
            add.mutateAsync({ path: { repository, id }, body: { key: given } }),
          ),
      },
    )
  return (
    <Section
      title={t('reference.title')}
      actions={
        <Act
          by="addReference"
          on={repository}
          size="compact-sm"
          label={t('reference.keep')}
          run={() => setOpen(true)}
        />
      }
    >
      <Shown of={list} rows={1}>
        {({ pages }) => {
          const rows = pages.flatMap(({ items }) => items)
          return (
            <div className="panel">
              {rows.length === 0 ? <p className="muted">{t('reference.none')}</p> : null}
              {rows.map((row) => (
                <div key={row.actor + row.key} className="spread">
                  <div>
                    <code>{row.key}</code>{' '}
                    <span className="muted small">
                      <Actor actor={row.actor} name={row.actorName} /> · <Moment at={row.createdAt} />
                    </span>
                  </div>
                  {row.actor === mine ? (
                    <button
                      type="button"
                      className="plain"
                      aria-label={t('reference.giveUp', { key: row.key })}
                      onClick={() => giveUp(row.key)}
                    >
                      <Icon name="cross" />
                    </button>
                  ) : null}
                </div>
              ))}
              {list.hasNextPage ? (
                <button type="button" className="link" onClick={() => void list.fetchNextPage()}>
                  {t('list.more')}
                </button>
              ) : null}
            </div>
          )
        }}
      </Shown>
      <FormDialog
        title={t('reference.keep')}
        open={open}
        close={() => setOpen(false)}
        submit={() =>
          add.mutate(
            { path: { repository, id }, body: { key } },
            {
              onSuccess: () => {
                setOpen(false)
                setKey('')
              },
            },
          )
        }
        label={t('reference.keep')}
        busy={add.isPending}
        error={add.error}
        ready={key !== ''}
      >
        <p className="muted">{t('reference.how')}</p>
        <TextInput
          label={t('reference.key')}
          description={t('reference.grammar')}
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          data-autofocus
        />
      </FormDialog>
    </Section>
  )
}
