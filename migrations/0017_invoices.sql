-- What is sold over the counter leaves the shelf with the line of its invoice. Lines of a job card have their parts there.
alter table invoice_line add column part_id uuid;
alter table invoice_line add foreign key (dealer_id, part_id) references part;
alter table stock_movement drop constraint stock_movement_cause_kind_check;
alter table stock_movement drop constraint stock_movement_check1;
alter table stock_movement add check (cause_kind in ('job_card', 'invoice', 'delivery', 'stocktake'));
alter table stock_movement add check ((cause_line_id is not null) = (cause_kind in ('job_card', 'invoice')));
