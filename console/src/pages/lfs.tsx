import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange, usePages } from '../contract/asking.ts'
import { Act } from '../parts/act.tsx'
import { BulkAct } from '../parts/bulk-act.tsx'
import { boxColumn, ChoiceBar, useChosen } from '../parts/choice.tsx'
import { actorColumn, momentColumn, sizeColumn } from '../parts/columns.tsx'
import { Commands } from '../parts/copy.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Listed } from '../parts/listed.tsx'
import { Page, Section } from '../parts/page.tsx'
import { Empty, Forbidden } from '../parts/states.tsx'
import { tell, tellProblem } from '../parts/toasts.tsx'
import { Digest, Moment, Size } from '../parts/values.tsx'
import { ask, useMay } from '../session/holders.ts'
import { t } from '../words/words.ts'
import { lfsCommand } from './snippets.ts'

/** Objects of Git LFS, newest first, and those that can be brought back. */
export const Lfs = () => {
  const { repository } = useParams({ from: '/r/$repository/lfs' })
  const allowed = useMay()('listLfsObjects', repository)
  const [deleting, setDeleting] = useState<string | null>(null)
  const list = usePages(
    'listLfsObjects',
    (after) => ({
      path: { repository },
      query: { order: 'desc', limit: 100, ...(after === undefined ? {} : { after: String(after) }) },
    }),
    { enabled: allowed.may },
  )
  const remove = useChange('deleteLfsObject', ['listLfsObjects', 'listDeletedLfsObjects'])
  const restore = useChange('restoreLfsObject', ['listLfsObjects', 'listDeletedLfsObjects'])
  const { chosen, choose, clear } = useChosen()
  const rows = list.data?.pages.flatMap(({ items }) => items) ?? []
  const items = rows.filter(({ oid }) => chosen.has(oid)).map(({ oid }) => ({ id: oid, name: oid.slice(0, 12) }))
  const touch = (key: string, range: boolean): void =>
    choose(
      rows.map(({ oid }) => oid),
      key,
      range,
    )
  if (!allowed.may)
    return (
      <Page title={t('tab.lfs')}>
        <Forbidden missing={allowed} />
      </Page>
    )
  const submit = async (): Promise<void> => {
    const oid = deleting ?? ''
    await remove.mutateAsync({ path: { repository, oid } })
    setDeleting(null)
    tell(t('lfs.wasDeleted'), () => restore.mutateAsync({ path: { repository, oid } }))
  }
  return (
    <Page title={t('lfs.title')} lead={t('lfs.lead')}>
      <Listed
        of={list}
        label={t('lfs.title')}
        keyOf={({ oid }) => oid}
        chosen={chosen}
        choose={touch}
        columns={[
          boxColumn<(typeof rows)[number]>({
            keyOf: ({ oid }) => oid,
            nameOf: ({ oid }) => oid.slice(0, 12),
            chosen,
            choose: touch,
          }),
          {
            key: 'oid',
            label: t('lfs.object'),
            width: 'minmax(160px, 2fr)',
            show: ({ oid }) => <Digest sha256={oid} />,
          },
          sizeColumn('size'),
          momentColumn('pushedAt', t('images.pushed'), { wide: 'middle' }),
          momentColumn('usedAt', t('me.used'), { wide: true }),
          actorColumn({ width: 'minmax(80px, 1fr)', wide: true }),
          {
            key: 'act',
            label: t('list.actions'),
            width: '144px',
            end: true,
            show: ({ oid }) => (
              <Act
                by="deleteLfsObject"
                on={repository}
                size="compact-xs"
                icon="trash"
                label={t('artifact.delete')}
                run={() => setDeleting(oid)}
              />
            ),
          },
        ]}
        empty={
          <Empty icon="branch" title={t('lfs.none')}>
            <p className="muted">{t('lfs.how')}</p>
            <Commands text={lfsCommand(repository)} what={t('lfs.command')} />
          </Empty>
        }
      />
      <ChoiceBar count={items.length} clear={clear}>
        <BulkAct
          by="deleteLfsObject"
          repository={repository}
          label={t('artifact.delete')}
          what={t('choice.deleting')}
          items={items}
          touches={['listLfsObjects', 'listDeletedLfsObjects']}
          clear={clear}
          work={({ id: oid }) => ask('deleteLfsObject', { path: { repository, oid } })}
          undo={({ id: oid }) => ask('restoreLfsObject', { path: { repository, oid } })}
        />
      </ChoiceBar>
      <Deleted repository={repository} />
      <FormDialog
        title={t('artifact.delete')}
        open={deleting !== null}
        close={() => setDeleting(null)}
        submit={() => void submit().catch(() => {})}
        label={t('artifact.delete')}
        busy={remove.isPending}
        error={remove.error}
        danger
      >
        <p>{t('artifact.deleting', { name: (deleting ?? '').slice(0, 12) })}</p>
      </FormDialog>
    </Page>
  )
}

const Deleted = ({ repository }: { readonly repository: string }) => {
  const allowed = useMay()('listDeletedLfsObjects', repository)
  const deleted = useAsk(
    'listDeletedLfsObjects',
    { path: { repository }, query: { order: 'desc', limit: 50 } },
    { enabled: allowed.may },
  )
  const restore = useChange('restoreLfsObject', ['listLfsObjects', 'listDeletedLfsObjects'])
  if (deleted.data === undefined || deleted.data.items.length === 0) return null
  return (
    <Section title={t('artifacts.deleted')}>
      <ul className="lines">
        {deleted.data.items.map(({ oid, size, restorableUntil }) => (
          <li key={oid} className="panel spread">
            <span className="line">
              <Digest sha256={oid} />
              <Size bytes={size} />
              <span className="muted small">
                {t('artifacts.until')} <Moment at={restorableUntil} />
              </span>
            </span>
            <Act
              by="restoreLfsObject"
              on={repository}
              size="compact-xs"
              icon="undo"
              label={t('artifacts.restore')}
              run={() => restore.mutate({ path: { repository, oid } }, { onError: tellProblem })}
            />
          </li>
        ))}
      </ul>
    </Section>
  )
}
