import { call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { useQuery } from '../../api/query.js'
import { mayAct } from '../../api/role.js'
import type { Page, Share as Link } from '../../api/shapes.js'
import { shareUrl } from '../../api/share.js'
import { ActButton } from '../../parts/ActButton.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { Field } from '../../parts/Field.js'
import { momentOf } from '../../parts/format.js'
import { OnceDialog } from '../../parts/OnceDialog.js'
import { Options } from '../../parts/Options.js'
import { toast } from '../../parts/toasts.js'
import { useOpen, useShown } from '../../parts/useOpen.js'

const lives = [
  ['1', 'in a day'],
  ['7', 'in 7 days'],
  ['30', 'in 30 days'],
] as const

type ShareProps = { readonly chainId: number; readonly hash: string }

/** The links that show this operation to readers without an account. */
export function Share({ chainId, hash }: ShareProps) {
  const links = useQuery<Page<Link>>(mayAct('admin') ? '/shares' : undefined)
  const making = useOpen()
  const link = useShown<string>()
  const path = `/operations/${chainId}/${hash}/shares`
  const ofThis = links.data?.items.filter(
    (each) => each.chainId === chainId && each.userOpHash === hash,
  )
  const withdraw = async (id: string): Promise<void> => {
    await call('DELETE', `/shares/${id}`)
    toast('The link shows nothing any more')
    links.refresh()
  }
  return (
    <section>
      <h3>Links without an account</h3>
      <div class="row">
        <ActButton needs="admin" onClick={making.open}>
          Share
        </ActButton>
        <span class="muted">Shows this operation, and nothing else, to people with the link.</span>
      </div>
      {ofThis?.map(({ id, createdAt, expiresAt }) => (
        <div class="row" key={id}>
          <span>
            Made {momentOf(createdAt)}, ends {momentOf(expiresAt)}
          </span>
          <ActButton needs="admin" onClick={() => withdraw(id)}>
            Withdraw
          </ActButton>
        </div>
      ))}
      {making.isOpen && (
        <ActionDialog
          title="Share the operation"
          act="Make the link"
          codes={[
            ['curl', curl(path, 'POST', { days: 7 })],
            ['command', `purser operation share ${hash} --chain ${chainId} --days 7`],
          ]}
          run={async (form) => {
            const body = { days: Number(form.get('days')) }
            const { token } = await call<{ token: string }>('POST', path, { body })
            link.show(shareUrl(chainId, hash, token))
            links.refresh()
          }}
          onClose={making.close}
        >
          <p>
            People with the link see the history, the calls, the run and the costs of this
            operation. They see no keys, webhooks, names or other operations.
          </p>
          <Field label="Ends">
            <select name="days">
              <Options of={lives} first="7" />
            </select>
          </Field>
        </ActionDialog>
      )}
      {link.shown !== undefined && (
        <OnceDialog
          title="The link"
          text="The service keeps only the hash of its token. It is shown this once."
          values={[['link', link.shown]]}
          onClose={link.hide}
        />
      )}
    </section>
  )
}
