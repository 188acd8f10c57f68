import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useAsk, useChange } from '../../contract/asking.ts'
import { Icon } from '../../look/icons.tsx'
import { Act } from '../../parts/act.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Section } from '../../parts/page.tsx'
import { tell } from '../../parts/toasts.tsx'
import { refreshSession, useMay } from '../../session/holders.ts'
import { shortBytes } from '../../values/format.ts'
import { t } from '../../words/words.ts'

interface Of {
  readonly repository: string
}

const lists = ['listRepositories', 'listAllRepositories', 'listAccessGroups'] as const

/** Deletes a repository, which has to be empty. It comes back as an empty one of that name, granted to the same groups. */
export const DeleteRepository = ({ repository }: Of) => {
  const [open, setOpen] = useState(false)
  const navigate = useNavigate()
  const groups = useAsk('listAccessGroups', {}, { enabled: open })
  const held = useHeld(repository, open)
  const granted = (groups.data?.items ?? []).flatMap(({ id, name, grants }) =>
    grants.filter((grant) => grant.repository === repository).map(({ access }) => ({ id, name, access })),
  )
  const remove = useChange('deleteRepository')
  const create = useChange('createRepository', lists)
  const grant = useChange('setAccessGroupGrant', lists)
  const comeBack = async (): Promise<void> => {
    await create.mutateAsync({ body: { id: repository } })
    for (const { id, access } of granted) await grant.mutateAsync({ path: { id, repository }, body: { access } })
    await refreshSession()
    tell(t('settings.isBack', { name: repository }))
    await navigate({ to: '/r/$repository', params: { repository } })
  }
  const submit = async (): Promise<void> => {
    await remove.mutateAsync({ path: { repository } })
    setOpen(false)
    await refreshSession()
    await navigate({ to: '/r' })
    tell(t('settings.wasDeleted', { name: repository }), comeBack)
  }
  return (
    <Section title={t('settings.end')}>
      <div className="panel">
        <p>{t('settings.ending')}</p>
        <div>
          <Act
            by="deleteRepository"
            icon="trash"
            color="red"
            variant="outline"
            label={t('settings.delete')}
            run={() => setOpen(true)}
          />
        </div>
      </div>
      <FormDialog
        title={t('settings.delete')}
        open={open}
        close={() => setOpen(false)}
        submit={() => void submit().catch(() => {})}
        label={t('settings.delete')}
        busy={remove.isPending}
        error={remove.error}
        ready={groups.data !== undefined && held.published === 0 && !held.kept}
        named={repository}
        danger
      >
        <Held repository={repository} {...held} />
        <p>
          {granted.length === 0
            ? t('settings.nobodyLoses')
            : t('settings.lose', { groups: granted.map(({ name }) => name).join(', ') })}
        </p>
        <p className="muted">{t('settings.undoable')}</p>
      </FormDialog>
    </Section>
  )
}

/** What stands in the way: files that are there, and those that were deleted and are still kept. */
const useHeld = (repository: string, enabled: boolean) => {
  const may = useMay()
  const card = useAsk('getRepository', { path: { repository } }, { enabled })
  const deleted = useAsk(
    'listDeletedArtifacts',
    { path: { repository }, query: { order: 'desc' } },
    { enabled: enabled && may('listDeletedArtifacts', repository).may },
  )
  return {
    published: Number(card.data?.filled?.publishedBytes ?? 0),
    kept: (deleted.data?.items.length ?? 0) > 0,
  }
}

const Held = ({ repository, published, kept }: Of & ReturnType<typeof useHeld>) =>
  published === 0 && !kept ? null : (
    <div className="band warn">
      <Icon name="lock" />
      <div className="lines">
        <p className="strong">{t('settings.notEmpty')}</p>
        {published === 0 ? null : (
          <p>
            <Link to="/r/$repository/artifacts" params={{ repository }}>
              {t('settings.holds', { size: shortBytes(published) })}
            </Link>
          </p>
        )}
        {kept ? (
          <p>
            <Link to="/r/$repository/artifacts" params={{ repository }} search={{ view: 'deleted' }}>
              {t('settings.keeps')}
            </Link>
          </p>
        ) : null}
      </div>
    </div>
  )
