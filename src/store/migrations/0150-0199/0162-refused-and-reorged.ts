import { migration } from '../../migration.js'

/**
 * A refusal is found by the request id that its caller was answered; and the history of an operation that a
 * reorganisation took out names the block and the transaction that are gone.
 */
export const refusedAndReorged = migration([
  'create index refusals_request on refusals (request_id)',
  `create or replace function remember_operation() returns trigger language plpgsql as $$
  begin
    if old.state in ('dropped', 'replaced') then
      insert into operation_history (chain_id, hash, at, kind, bundle_id, code, reason)
      values (old.chain_id, old.hash, old.updated_at, old.state, old.bundle_id, old.reason_code, old.reason);
      if new.state = 'pooled' then
        insert into operation_history (chain_id, hash, at, kind)
        values (old.chain_id, old.hash, now(), 'readmitted');
      end if;
    elsif old.state = 'included' then
      insert into operation_history (chain_id, hash, at, kind, bundle_id, reason)
      values (old.chain_id, old.hash, now(), 'reorged', old.bundle_id,
        (select 'block ' || block_number || ' with transaction ' || transaction_hash || ' left the chain'
          from inclusions where chain_id = old.chain_id and user_op_hash = old.hash));
    else
      insert into operation_history (chain_id, hash, at, kind, bundle_id)
      values (old.chain_id, old.hash, now(),
        case when new.attempts > old.attempts then 'suspected' else 'returned' end, old.bundle_id);
    end if;
    return null;
  end $$`,
])
