with template as (select * from sessions where id = %(template)s),
made as (insert into sessions (id, scope, ordinal, header, place, size, changed, used_ns)
    select 'session-20260111-153000-' || lpad(n::text, 6, '0'),
        convert_to('project:/' || n %% %(scopes)s, 'UTF8'),
        n / %(scopes)s + 1, header, %(place)s, size, 1, used_ns + n * 1000000000::bigint
    from template, generate_series(%(begin)s::int, %(end)s::int - 1) n returning id)
insert into pieces select made.id, 0, convert_to(
    replace(convert_from(data, 'UTF8'), %(template)s, made.id), 'UTF8')
from made, pieces where session = %(template)s
