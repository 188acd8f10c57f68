import { Link } from '@tanstack/react-router'
import { useChange } from '../../contract/asking.ts'
import { Act } from '../../parts/act.tsx'
import { tell, tellProblem } from '../../parts/toasts.tsx'
import { Actor, Moment, Tag } from '../../parts/values.tsx'
import { t } from '../../words/words.ts'
import type { Revision } from './revision.ts'

/** Every revision of a path, to look at, to compare and to bring back. */
export const History = ({
  repository,
  path,
  rows,
  shown,
  newest,
}: {
  readonly repository: string
  readonly path: string
  readonly rows: readonly Revision[]
  readonly shown: number
  readonly newest: number
}) => {
  const restore = useChange('restoreAsset', ['listAssetHistory', 'listAssetPage'])
  const run = async (sourceRevision: number): Promise<void> => {
    try {
      const { revision } = await restore.mutateAsync({
        path: { repository },
        body: { path, sourceRevision, expectedRevision: newest },
      })
      tell(t('file.restored', { revision }))
    } catch (error) {
      tellProblem(error)
    }
  }
  return (
    <ol className="lines">
      {rows.map((row) => (
        <li key={row.revision} className="panel">
          <div className="spread">
            <Link
              to="."
              search={(before) => ({ ...before, rev: String(row.revision) })}
              aria-current={row.revision === shown}
            >
              <strong>{t('file.revision', { revision: row.revision })}</strong>
            </Link>
            {row.revision === newest ? <Tag tone="accent" text={t('file.now')} /> : null}
            {row.removed === true ? <Tag tone="warn" text={t('file.ended')} /> : null}
          </div>
          <span className="muted small">
            {row.actor === null ? null : <Actor actor={row.actor} name={row.actorName} />}
            {row.createdAt === null ? null : (
              <>
                {' · '}
                <Moment at={row.createdAt} />
              </>
            )}
            {row.sourceRevision === null ? null : ` · ${t('file.from', { revision: row.sourceRevision })}`}
          </span>
          <div className="line">
            {row.revision === shown ? null : (
              <Link className="small" to="." search={(before) => ({ ...before, with: String(row.revision) })}>
                {t('file.compare')}
              </Link>
            )}
            {row.revision === newest || row.removed === true ? null : (
              <Act
                by="restoreAsset"
                on={repository}
                size="compact-xs"
                icon="undo"
                label={t('file.restore')}
                busy={restore.isPending}
                run={() => void run(row.revision)}
              />
            )}
          </div>
        </li>
      ))}
    </ol>
  )
}
