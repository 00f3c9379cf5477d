import { call } from '../../api/call.js'
import { curl } from '../../api/curl.js'
import { useQuery } from '../../api/query.js'
import type { App, Page } from '../../api/shapes.js'
import { ActionDialog } from '../../parts/ActionDialog.js'
import { Field } from '../../parts/Field.js'
import { Loaded } from '../../parts/Loaded.js'
import { toast } from '../../parts/toasts.js'

type ContractsProps = { readonly app: App; onClose(): void }

/** The functions and errors of an app's contracts, by which its operations are described. */
export function Contracts({ app, onClose }: ContractsProps) {
  const path = `/apps/${app.id}/abi`
  const stored = useQuery<Page<string>>(path)
  return (
    <ActionDialog
      title={`Contracts of ${app.name}`}
      act="Save"
      codes={[
        ['curl', curl(path, 'POST', { abi: 'function mint(address to, uint256 id)' })],
        ['command', `purser app describe ${app.id} --abi 'function mint(address to, uint256 id)'`],
      ]}
      run={async (form) => {
        const abi = form.get('abi')
        if (abi === null) throw new Error('The stored ABI is not shown yet: try again.')
        const body = { abi }
        const { items } = await call<Page<string>>('POST', path, { body })
        stored.refresh()
        toast(items.length === 1 ? '1 function or error' : `${items.length} functions and errors`)
      }}
      onClose={onClose}
    >
      <Loaded query={stored} lines={4}>
        {({ items }) => (
          <Field
            label="ABI"
            hint="Paste the ABI that your compiler wrote, or one function or error on each line. Operations of the app show calls and errors by these names."
          >
            <textarea
              name="abi"
              rows={10}
              spellcheck={false}
              placeholder="function mint(address to, uint256 id)"
              defaultValue={items.join('\n')}
            />
          </Field>
        )}
      </Loaded>
    </ActionDialog>
  )
}
